"""The mapping against a dict, below and above its limit in memory."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen._internal.spill_dict import SpillDict
from hengwen.records import Sample

keys = st.text(st.characters(), max_size=3)
changes = st.lists(st.tuples(st.sampled_from(["set", "delete", "get"]), keys, st.integers()), max_size=30)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(changes, st.integers(0, 5))
def test_it_does_what_a_dict_does(steps: list[tuple[str, str, int]], max_in_memory: int) -> None:
    mapping: SpillDict[int] = SpillDict(max_in_memory=max_in_memory)
    expected: dict[str, int] = {}
    for step, key, value in steps:
        if step == "set":
            mapping[key] = expected[key] = value
        elif step == "delete" and key in expected:
            del mapping[key], expected[key]
        assert mapping.get(key) == expected.get(key)
        assert (key in mapping) == (key in expected)
        assert len(mapping) == len(expected)
    assert list(mapping.items()) == list(expected.items())
    assert list(mapping.values()) == list(expected.values())


@each_row("max_in_memory", [0, 10])
def test_what_is_not_there_is_a_key_error(max_in_memory: int) -> None:
    mapping: SpillDict[int] = SpillDict(max_in_memory=max_in_memory)
    mapping["a"] = 1
    with pytest.raises(KeyError):
        mapping["b"]
    with pytest.raises(KeyError):
        del mapping["b"]
    assert 3 not in mapping


def test_samples_come_back_as_they_were() -> None:
    sample = Sample(id="a", input=(("user", "你好"),), references=("嗯",), metadata={"n": [1]}, task="t")
    mapping: SpillDict[Sample] = SpillDict(max_in_memory=0)
    mapping["a"] = sample
    assert mapping["a"] == sample
    assert mapping["a"].hash == sample.hash


def test_a_large_mapping_is_not_in_memory() -> None:
    text = "字" * 1000
    tracemalloc.start()
    mapping: SpillDict[str] = SpillDict(max_in_memory=100)
    for number in range(3000):
        mapping[str(number)] = text + str(number)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 500_000  # the texts are 6 MB
    assert mapping["2999"].endswith("2999")


def test_a_closed_mapping_is_empty() -> None:
    mapping: SpillDict[int] = SpillDict(max_in_memory=0)
    mapping["a"] = 1
    mapping.close()
    assert list(mapping) == []
    assert len(mapping) == 0


def test_twenty_thousand_items_are_kept_in_memory() -> None:
    mapping: SpillDict[int] = SpillDict()
    mapping.update((str(number), number) for number in range(20_000))
    assert mapping._file is None
    mapping["next"] = 1
    assert mapping._file is not None
    assert (len(mapping), mapping["19999"], mapping["next"]) == (20_001, 19_999, 1)

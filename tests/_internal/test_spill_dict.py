"""The spool against a dict, on both sides of its limit."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen._internal.spill_dict import SpillDict
from hengwen.records import Sample

keys = st.text(st.characters(), max_size=3)
changes = st.lists(st.tuples(st.sampled_from(["set", "delete", "get"]), keys, st.integers()), max_size=30)


@settings(deadline=None, max_examples=150)
@given(changes, st.integers(0, 5))
def test_it_does_what_a_dict_does(steps: list[tuple[str, str, int]], in_memory: int) -> None:
    spool: SpillDict[int] = SpillDict(in_memory=in_memory)
    known: dict[str, int] = {}
    for step, key, value in steps:
        if step == "set":
            spool[key] = known[key] = value
        elif step == "delete" and key in known:
            del spool[key], known[key]
        assert spool.get(key) == known.get(key)
        assert (key in spool) == (key in known)
        assert len(spool) == len(known)
    assert list(spool.items()) == list(known.items())
    assert list(spool.values()) == list(known.values())


@pytest.mark.parametrize("in_memory", [0, 10])
def test_what_is_not_there_is_a_key_error(in_memory: int) -> None:
    spool: SpillDict[int] = SpillDict(in_memory=in_memory)
    spool["a"] = 1
    with pytest.raises(KeyError):
        spool["b"]
    with pytest.raises(KeyError):
        del spool["b"]
    assert 3 not in spool


def test_samples_come_back_as_they_were() -> None:
    sample = Sample(id="a", input=(("user", "你好"),), references=("嗯",), metadata={"n": [1]}, task="t")
    spool: SpillDict[Sample] = SpillDict(in_memory=0)
    spool["a"] = sample
    assert spool["a"] == sample
    assert spool["a"].hash == sample.hash


def test_a_large_spool_is_not_in_memory() -> None:
    text = "字" * 1000
    tracemalloc.start()
    spool: SpillDict[str] = SpillDict(in_memory=100)
    for number in range(3000):
        spool[str(number)] = text + str(number)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 500_000  # the texts are 6 MB
    assert spool["2999"].endswith("2999")


def test_a_closed_spool_is_empty() -> None:
    spool: SpillDict[int] = SpillDict(in_memory=0)
    spool["a"] = 1
    spool.close()
    assert list(spool) == []
    assert len(spool) == 0

"""The matcher must choose exactly difflib's blocks, whichever way it searches."""

from __future__ import annotations

import difflib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.objective import matching

SCAN = {"_MAX_SCAN_CELLS": 10**9}
MATRIX = {"_MAX_SCAN_CELLS": 0, "_MAX_MATRIX_CELLS": 10**9}
RANKS = {"_MAX_SCAN_CELLS": 0, "_MAX_MATRIX_CELLS": 0, "_MAX_ANCHOR_PAIRS": 0}
WAYS = pytest.mark.parametrize("way", [{}, SCAN, MATRIX, RANKS], ids=["as it is", "scan", "matrix", "ranks"])


def oracle(a: str, b: str, autojunk: bool) -> list[tuple[int, int, int]]:
    matcher = difflib.SequenceMatcher(None, a, b, autojunk)
    return [(block.a, block.b, block.size) for block in matcher.get_matching_blocks()[:-1]]


def texts(chance: random.Random) -> tuple[str, str]:
    """Return two texts: random ones, ones with a part in common, or periodic ones."""
    alphabet = chance.choice(["ab", "cccR\n", "(verse)\ncR", "abcdefghij月光\U0001f319"])
    size = chance.choice([5, 40, 250, 450])
    a, b = ("".join(chance.choices(alphabet, k=chance.randrange(size))) for _ in "ab")
    kind = chance.randrange(3)
    if kind == 1:
        b = a[: len(a) // 2] + b + a[len(a) // 3 :]
    if kind == 2:
        a, b = ("c" * chance.randrange(1, 8) + "R" for _ in "ab")
        a, b = a * chance.randrange(1, 60), b * chance.randrange(1, 60)
    return a, b


@pytest.mark.slow
@WAYS
@pytest.mark.parametrize("autojunk", [False, True])
def test_random_texts_match_as_in_difflib(
    monkeypatch: pytest.MonkeyPatch, way: dict[str, int], autojunk: bool
) -> None:
    for name, value in way.items():
        monkeypatch.setattr(matching, name, value)
    chance = random.Random(20)
    for _ in range(120):
        a, b = texts(chance)
        assert matching.matching_blocks(a, b, autojunk=autojunk) == oracle(a, b, autojunk)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(st.text("abc\n", max_size=60), st.text("abc\n", max_size=60), st.booleans())
def test_any_texts_match_as_in_difflib(a: str, b: str, autojunk: bool) -> None:
    assert matching.matching_blocks(a, b, autojunk=autojunk) == oracle(a, b, autojunk)
    assert matching.ratio(a, b, autojunk=autojunk) == difflib.SequenceMatcher(None, a, b, autojunk).ratio()


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=30), st.text(max_size=30))
def test_any_characters_can_be_compared(a: str, b: str) -> None:
    assert matching.matching_blocks(a, b) == oracle(a, b, False)


@WAYS
def test_lone_surrogates_can_be_compared(monkeypatch: pytest.MonkeyPatch, way: dict[str, int]) -> None:
    for name, value in way.items():
        monkeypatch.setattr(matching, name, value)
    assert matching.matching_blocks("a\ud800b", "\ud800b") == [(1, 0, 2)]


@each_row(
    ("a", "b", "expected"),
    [
        ("", "", []),
        ("", "a", []),
        ("abc", "abc", [(0, 0, 3)]),
        ("abab", "ab", [(0, 0, 2)]),
        ("ab", "abab", [(0, 0, 2)]),
        ("xaby", "abxab", [(0, 2, 3)]),
        ("abXcd", "cdab", [(0, 2, 2)]),
    ],
)
def test_of_equally_long_blocks_the_first_in_a_is_taken(
    a: str, b: str, expected: list[tuple[int, int, int]]
) -> None:
    assert matching.matching_blocks(a, b) == expected


def test_from_200_characters_on_frequent_ones_start_no_block() -> None:
    a, b = "x" + "c" * 150, "c" * 199
    assert matching.ratio(a, b, autojunk=True) > 0.8
    assert matching.ratio(a, b + "c", autojunk=True) == 0.0


def test_without_any_anchor_difflib_takes_a_common_beginning() -> None:
    a, b = "c" * 150, "c" * 200
    assert matching.matching_blocks(a, b, autojunk=True) == oracle(a, b, True) == [(0, 0, 150)]


def test_texts_that_cost_too_much_end_in_an_error_that_names_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(matching, "WORK_LIMIT", 1000)
    with pytest.raises(ValueError, match="3000 and 4000 characters need more than 1000 steps"):
        matching.ratio("ab" * 1500, "abb" * 1333 + "a")


def test_long_texts_that_differ_in_one_place_are_compared_at_once() -> None:
    a = "ccccccR\n" * 6000
    b = a[:30_000] + "x" + a[30_000:]
    assert matching.matching_blocks(a, b) == [(0, 0, 30_000), (30_000, 30_001, 18_000)]

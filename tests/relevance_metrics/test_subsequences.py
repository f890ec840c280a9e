from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.relevance_metrics import longest_increasing_indices, longest_increasing_subsequence


def slow_length(x: Any, strict: bool) -> int:
    best: list[int] = []
    for i, score in enumerate(x):
        before = [best[j] for j in range(i) if x[j] < score or (not strict and x[j] == score)]
        best.append(1 + max(before, default=0))
    return max(best, default=0)


@each_row(
    ("x", "strict", "weak", "falling"),
    [
        pytest.param([], 0, 0, 0, id="empty"),
        pytest.param([3], 1, 1, 1, id="one"),
        pytest.param([2, 2, 2], 1, 3, 1, id="constant"),
        pytest.param([1, 2, 3], 3, 3, 1, id="rises"),
        pytest.param([3, 2, 1], 1, 1, 3, id="falls"),
        pytest.param([5, 4, 5, 4], 2, 2, 2, id="swings"),
        pytest.param([10, 9, 2, 5, 3, 7, 101, 18], 4, 4, 4, id="textbook"),
        pytest.param([math.inf, -math.inf, 0, math.inf, math.inf], 3, 4, 2, id="infinite"),
        pytest.param([3, 2, 1, 4, 0, 7, 11, 5, 6, 8, 12, 10, 9, 13, 14], 8, 8, 4, id="PiCO log, peer review"),
    ],
)
def test_hand_counted_values(x: list[float], strict: int, weak: int, falling: int) -> None:
    assert longest_increasing_subsequence(x) == strict
    assert longest_increasing_subsequence(x, strict=False) == weak
    assert longest_increasing_subsequence(x[::-1]) == falling
    assert type(longest_increasing_subsequence(x)) is int


@pytest.mark.slow
@given(x=st.lists(st.integers(1, 9) | st.floats(allow_nan=False), max_size=50), strict=st.booleans())
@settings(deadline=None, max_examples=120)
def test_the_length_is_that_of_the_table_method(x: list[float], strict: bool) -> None:
    assert longest_increasing_subsequence(x, strict=strict) == slow_length(x, strict)


@pytest.mark.slow
@given(x=st.lists(st.integers(1, 9), max_size=60), strict=st.booleans())
@settings(deadline=None, max_examples=120)
def test_the_witness_is_as_long_and_in_order(x: list[int], strict: bool) -> None:
    indices = longest_increasing_indices(x, strict=strict)
    assert len(indices) == longest_increasing_subsequence(x, strict=strict)
    assert indices == sorted(set(indices))
    scores = [x[index] for index in indices]
    assert all(a < b or (not strict and a == b) for a, b in pairwise(scores))


@each_row("strict", [True, False])
@each_row("levels", [1, 2, 5, 12, 13, 300])
def test_long_sequences_of_few_levels_take_no_other_answer(levels: int, strict: bool) -> None:
    x = np.random.default_rng(levels).integers(0, levels, 4200)
    expected = len(longest_increasing_indices(x, strict=strict))
    assert longest_increasing_subsequence(x, strict=strict) == expected
    assert longest_increasing_subsequence(x / 4 - 3, strict=strict) == expected


@pytest.mark.slow
@each_row("strict", [True, False])
def test_long_sequences_that_rise_or_settle_agree_with_the_witness(strict: bool) -> None:
    rng = np.random.default_rng(0)
    n = 20_000
    for x in (rng.normal(size=n), np.arange(n), np.arange(n) + rng.normal(size=n) * 50, -np.arange(n)):
        expected = len(longest_increasing_indices(x, strict=strict))
        assert longest_increasing_subsequence(x, strict=strict) == expected


@pytest.mark.slow
@each_row("strict", [True, False])
@each_row("shape", [(3, 9), (40, 50), (64, 255), (33, 256), (40, 1100), (2, 20, 5), (0, 4), (40, 0)])
def test_a_batch_is_measured_row_by_row(shape: tuple[int, ...], strict: bool) -> None:
    rng = np.random.default_rng(2)
    for x in (rng.normal(size=shape), rng.integers(1, 6, shape), rng.integers(0, 256, shape)):
        rows = x.reshape(math.prod(shape[:-1]), shape[-1])
        expected = [len(longest_increasing_indices(row, strict=strict)) for row in rows]
        lengths = longest_increasing_subsequence(x, strict=strict)
        assert lengths.shape == shape[:-1]
        assert lengths.ravel().tolist() == expected


def test_a_rising_batch_fills_every_pile() -> None:
    x = np.tile(np.arange(256), (40, 1))
    assert longest_increasing_subsequence(x).tolist() == [256] * 40
    assert longest_increasing_subsequence(np.ones((40, 70)), strict=False).tolist() == [70] * 40


def test_a_strict_one_is_never_longer_than_the_scale() -> None:
    x = np.random.default_rng(0).integers(1, 6, 100)
    assert longest_increasing_subsequence(x) <= 5
    assert longest_increasing_subsequence(x, strict=False) > 20


@each_row("find", [longest_increasing_subsequence, longest_increasing_indices])
def test_nan_and_strings_are_refused(find: Any) -> None:
    with pytest.raises(ValueError, match="score 0 is NaN"):
        find([math.nan, 1.0])
    with pytest.raises(TypeError, match="must be numbers"):
        find(["one", "two"])


def test_a_witness_is_of_one_sequence() -> None:
    with pytest.raises(ValueError, match="one sequence"):
        longest_increasing_indices([[1, 2], [3, 4]])

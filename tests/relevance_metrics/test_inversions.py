from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.relevance_metrics import count_inversions


def slow_count(x: Any) -> int:
    return sum(a > b for i, a in enumerate(x) for b in x[i + 1 :])


def by_matrix(x: np.ndarray) -> int:
    return int(np.count_nonzero(np.triu(x[:, None] > x, 1)))


@each_row(
    ("x", "normalize", "expected"),
    [
        pytest.param([], None, 0, id="empty"),
        pytest.param([3], None, 0, id="one"),
        pytest.param([2, 2, 2], None, 0, id="constant"),
        pytest.param([1, 3, 2], None, 1, id="one swap"),
        pytest.param([4, 3, 2, 1], None, 6, id="falls"),
        pytest.param([4, 3, 2, 1], "pairs", 1.0, id="all pairs"),
        pytest.param([2, 2, 1], "pairs", 2 / 3, id="two of three"),
        pytest.param([-0.0, 0.0], None, 0, id="zeros are equal"),
        pytest.param([math.inf, 1, -math.inf], None, 3, id="infinite"),
        pytest.param(
            [3, 2, 1, 4, 0, 7, 11, 5, 6, 8, 12, 10, 9, 13, 14], None, 17, id="PiCO log, peer review"
        ),
    ],
)
def test_hand_counted_values(x: list[float], normalize: Any, expected: float) -> None:
    counts = count_inversions(x, normalize=normalize)
    assert counts == pytest.approx(expected)
    assert type(counts) is (int if normalize is None else float)


@pytest.mark.slow
@given(st.lists(st.floats(allow_nan=False) | st.integers(-3, 3), max_size=60))
@settings(deadline=None, max_examples=100)
def test_it_counts_pairs(x: list[float]) -> None:
    assert count_inversions(x) == slow_count(x)


@given(st.lists(st.integers(1, 5), max_size=60))
@settings(deadline=None, max_examples=60)
def test_pairs_fall_rise_or_tie(x: list[int]) -> None:
    tied = sum(a == b for i, a in enumerate(x) for b in x[i + 1 :])
    assert count_inversions(x) + count_inversions(x[::-1]) + tied == len(x) * (len(x) - 1) // 2


@pytest.mark.slow
@each_row("n", [257, 300, 1023, 2049, 5000, 9001])
def test_long_sequences_are_counted_as_short_ones(n: int) -> None:
    rng = np.random.default_rng(n)
    for x in (
        rng.permutation(n),
        rng.normal(size=n),
        np.round(rng.normal(size=n), 2),
        rng.integers(0, 3, n),
        rng.integers(-128, 128, n, dtype=np.int8),
        rng.integers(0, 2**64, n, dtype=np.uint64),
        rng.choice([0.5, 1e300, -7.0], n),
        np.where(np.arange(n) < 3000, 1, rng.integers(0, 90_000, n)),
        np.arange(n)[::-1],
        np.arange(n),
    ):
        assert count_inversions(x) == by_matrix(x)


@pytest.mark.slow
def test_a_million_scores_agree_with_scipy() -> None:
    from scipy.stats import kendalltau

    n = 1_000_000
    x = np.random.default_rng(0).normal(size=n)
    tau = kendalltau(np.arange(n), x).statistic
    assert count_inversions(x) == round(n * (n - 1) / 2 * (1 - tau) / 2)


@each_row("shape", [(3, 7), (40, 50), (200, 256), (9, 300), (2, 4, 6), (0, 5), (5, 0), (12, 1)])
def test_a_batch_is_counted_row_by_row(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    for x in (rng.normal(size=shape), rng.integers(1, 6, shape)):
        expected = np.array([by_matrix(row) for row in x.reshape(-1, shape[-1])] if x.size else [])
        counts = count_inversions(x)
        assert counts.shape == shape[:-1]
        assert counts.ravel().tolist() == (expected.tolist() if x.size else [0] * counts.size)
        assert count_inversions(np.moveaxis(x, -1, 0), axis=0).tolist() == counts.tolist()


@each_row(
    ("x", "normalize", "message"),
    [
        ([1, math.nan], None, "score 1 is NaN, which has no order"),
        ([1], "pairs", "1 scores have no pairs"),
        ([1, 2], "max", "unknown normalize 'max'"),
    ],
)
def test_errors_say_what_to_do(x: Any, normalize: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        count_inversions(x, normalize=normalize)

from __future__ import annotations

import math

import numpy as np
import pytest

from hengwen.relevance_metrics import (
    missing_patterns,
    pattern_counts,
)

Y = [(i * i * 7919) % 101 for i in range(40)]


def test_counts_are_named_by_the_stable_argsort() -> None:
    assert pattern_counts([1, 3, 2, 2]) == {(0, 2, 1): 1, (1, 2, 0): 1}
    assert pattern_counts([1, 3, 2, 2], ties="dense") == {(0, 2, 1): 1, (1, 0, 0): 1}
    assert pattern_counts([9, 1, 2], 2, 2) == {(1, 0): 1}


def test_counts_are_of_one_sequence_and_never_nan() -> None:
    with pytest.raises(ValueError, match=r"one sequence, got shape \(2, 3\)"):
        pattern_counts([[1, 2, 3], [1, 2, 3]])
    with pytest.raises(ValueError, match="counts cannot be NaN"):
        pattern_counts([1, math.nan, 3], nan="propagate")


def test_missing_patterns_are_counted_beside_what_chance_misses() -> None:
    result = missing_patterns(Y, 4)
    assert result.share == pytest.approx(0.20833333333333334)  # ordpy 1.2.3
    assert (result.missing, result.possible, result.windows, result.n) == (5, 24, 37, 40)
    assert len(result.examples) == 5
    # 24 patterns, 37 windows: were they independent, 24 (23/24)^37 = 4.97 would be missed
    assert result.expected == pytest.approx(4.97, abs=0.6)


def test_nothing_is_missing_from_a_long_random_sequence() -> None:
    result = missing_patterns(np.random.default_rng(0).normal(size=3000), draws=5)
    assert (result.missing, result.expected, result.examples) == (0, 0.0, ())


def test_missing_weak_orders_are_named() -> None:
    result = missing_patterns([1, 1, 2, 1], 2, ties="dense", draws=3)
    assert (result.missing, result.examples) == (0, ())
    result = missing_patterns([1, 2, 3, 4], 2, ties="dense", draws=3)
    assert result.examples == ((0, 0), (1, 0))
    assert result.tied_share == 0
    with pytest.raises(ValueError, match="not defined for ties='average'"):
        missing_patterns([1, 2, 3], ties="average")

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.relevance_metrics import (
    missing_patterns,
    ordinal_transitions,
    pattern_counts,
    pattern_js_distance,
    permutation_entropy,
    weighted_permutation_entropy,
)

Y = [(i * i * 7919) % 101 for i in range(40)]
Z = [(i * i * i * 31 + i) % 89 for i in range(40)]


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


@given(st.lists(st.integers(1, 4), min_size=4, max_size=40))
@settings(deadline=None, max_examples=60)
def test_transitions_follow_the_windows(x: list[int]) -> None:
    result = ordinal_transitions(x)
    names = [tuple(np.argsort(x[t : t + 3], kind="stable").tolist()) for t in range(len(x) - 2)]
    steps = list(pairwise(names))
    for i, before in enumerate(result.patterns):
        for j, after in enumerate(result.patterns):
            assert result.counts[i][j] == steps.count((before, after))
    assert sum(map(sum, result.counts)) == len(steps)
    for shares in result.probabilities().values():
        assert sum(shares.values()) == pytest.approx(1)
    assert 0 <= result.conditional_entropy <= math.log(6)


def test_a_swing_is_settled_by_its_last_pattern() -> None:
    result = ordinal_transitions([5, 4] * 6)
    assert result.conditional_entropy == 0
    assert result.probabilities() == {(0, 2, 1): {(1, 0, 2): 1.0}, (1, 0, 2): {(0, 2, 1): 1.0}}


def test_a_dropped_window_breaks_the_chain() -> None:
    # windows of two: rise, tie, fall, fall
    assert ordinal_transitions([1, 2, 2, 1, 0], 2, ties="drop").counts == ((0, 0), (0, 1))
    assert ordinal_transitions([3, 2, 1, math.nan, 5, 4, 1], 2, nan="omit-window").counts == ((2,),)
    with pytest.raises(ValueError, match="no two consecutive windows"):
        ordinal_transitions([1, 2, 3])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"m": 3, "base": "e"}, 0.07649520531373932),
        ({"m": 4, "base": 2}, 0.4238502991894922),
    ],
)
def test_js_distance_is_that_of_ordpy(options: dict[str, Any], expected: float) -> None:
    # ordpy 1.2.3, permutation_js_distance, not normalized
    assert pattern_js_distance(Y, Z, **options) == pytest.approx(expected, abs=1e-9)


@given(
    a=st.lists(st.integers(1, 5), min_size=3, max_size=30),
    b=st.lists(st.integers(1, 5), min_size=3, max_size=30),
)
@settings(deadline=None, max_examples=60)
def test_js_distance_is_that_of_scipy(a: list[int], b: list[int]) -> None:
    from scipy.spatial.distance import jensenshannon

    first, second = pattern_counts(a), pattern_counts(b)
    kinds = sorted({*first, *second})
    shares = [[counts.get(kind, 0) for kind in kinds] for counts in (first, second)]
    result = pattern_js_distance(a, b)
    assert result == pytest.approx(np.nan_to_num(jensenshannon(*shares, base=2)), abs=1e-7)
    assert 0 <= result <= 1
    assert result == pytest.approx(pattern_js_distance(b, a), abs=1e-12)
    assert pattern_js_distance(a, a) == 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"m": 3}, 1.7258890456689606),
        ({"m": 4, "base": 2}, 4.0146234305848525),
        ({"m": 3, "delay": 2}, 1.6982550054568106),
        ({"m": 3, "normalize": "m!"}, 1.7258890456689606 / math.log(6)),
    ],
)
def test_weighted_entropy_is_that_of_ordpy(options: dict[str, Any], expected: float) -> None:
    # ordpy 1.2.3, weighted_permutation_entropy, not normalized
    assert weighted_permutation_entropy(Y, **options) == pytest.approx(expected, abs=1e-9)


def test_weights_are_the_variances() -> None:
    # rise of 3 (weight 2.25) and fall of 1 (weight .25): shares .9 and .1
    expected = -(0.9 * math.log(0.9) + 0.1 * math.log(0.1))
    assert weighted_permutation_entropy([0, 3, 2], 2) == pytest.approx(expected, abs=1e-12)
    assert weighted_permutation_entropy([[0, 3, 2], [4, 4, 4]], 2).tolist() == pytest.approx([expected, 0])


def test_equal_weights_are_no_weights() -> None:
    x = [1, 2, 1, 2, 3, 2, 1]
    assert weighted_permutation_entropy(x, 2) == pytest.approx(permutation_entropy(x, 2), abs=1e-12)


@given(st.lists(st.integers(1, 5), min_size=3, max_size=30), st.floats(0.01, 100))
@settings(deadline=None, max_examples=60)
def test_weighted_entropy_knows_no_unit(x: list[int], unit: float) -> None:
    result = weighted_permutation_entropy(x)
    assert 0 <= result <= math.log(6) + 1e-12
    assert math.copysign(1, result) == 1
    assert weighted_permutation_entropy([v * unit for v in x]) == pytest.approx(result, abs=1e-9)


def test_weights_need_finite_scores() -> None:
    with pytest.raises(ValueError, match="finite"):
        weighted_permutation_entropy([1, math.inf, 2])
    assert weighted_permutation_entropy([1e300, -1e300, 5, 1e299]) > 0

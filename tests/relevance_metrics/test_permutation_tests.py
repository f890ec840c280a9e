from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from rows import each_row

from hengwen.relevance_metrics import count_inversions, permutation_entropy, significance


@each_row(
    ("x", "expected"),
    [
        pytest.param([1, 2, 3, 4], 2 / 24, id="n=4 cannot go below .083"),
        pytest.param([5, 4, 3, 2, 1], 2 / 120, id="n=5"),
        pytest.param([1, 2, 3, 4, 5, 6], 2 / 720, id="n=6"),
        pytest.param([2, 1, 3, 4], 8 / 24, id="one swap"),
        pytest.param([3, 3, 3], 1.0, id="constant"),
        pytest.param([4], 1.0, id="one"),
    ],
)
def test_exact_two_sided_p(x: list[int], expected: float) -> None:
    test = significance(x)
    assert test.p == pytest.approx(expected)
    assert test.exact


@pytest.mark.slow
@each_row("seed", range(5))
def test_exact_p_of_inversions_is_that_of_kendalls_tau(seed: int) -> None:
    from scipy.stats import kendalltau

    x = np.random.default_rng(seed).permutation(7)
    for alternative, direction in (("two-sided", "two-sided"), ("less", "greater"), ("greater", "less")):
        expected = kendalltau(np.arange(7), x, method="exact", alternative=alternative).pvalue
        assert significance(x, alternative=direction).p == pytest.approx(expected)


@each_row(
    ("x", "s", "variance"),
    [
        pytest.param([5, 4, 5, 4, 5, 4, 5, 4], -4, 48.0, id="ties"),
        pytest.param([1, 2, 2, 3, 5, 4, 5], 17, 42.333333333333336, id="rise"),
        pytest.param([9.5, 8, 8, 7, 7.5, 3, 2, 2, 1], -32, 90.0, id="fall"),
        pytest.param([(i * i * 7919) % 101 for i in range(2500)], -5389, 1736456491.6666667, id="long"),
        pytest.param(
            [(i * i * 7919) % 101 + i // 100 for i in range(2500)], 503539, 1736976989.6666667, id="drift"
        ),
    ],
)
def test_it_is_the_mann_kendall_statistic(x: list[float], s: int, variance: float) -> None:
    # pymannkendall 1.4.3, original_test: s and var_s; s = 2 (mean - inversions)
    test = significance(x, n_perm=2)
    assert 2 * (test.null_mean - test.statistic) == s
    assert 4 * test.null_sd**2 == pytest.approx(variance)
    assert test.z is not None
    assert test.z == pytest.approx(-s / math.sqrt(variance))


def test_all_arrangements_of_ties_are_taken_once() -> None:
    x = [1, 2, 2, 1, 3]
    orders = set(permutations(x))
    for metric, function in (("cin", count_inversions), ("pen", permutation_entropy)):
        values = np.array([function(list(order)) for order in orders])
        test = significance(x, metric, alternative="less")
        assert test.orders == len(orders) == 30
        assert test.p == pytest.approx(np.mean(values <= function(x) + 1e-9))
        assert test.null_mean == pytest.approx(values.mean())


def test_sampled_p_agrees_with_exact_p() -> None:
    x = [1, 2, 4, 3, 5, 7, 6]
    exact = significance(x)
    sampled = significance(x, n_perm=4000)
    assert (exact.exact, sampled.exact) == (True, False)
    assert sampled.p == pytest.approx(exact.p, abs=4 * math.sqrt(exact.p / 4000))
    assert sampled.p_floor == 1 / 4001


def test_p_never_falls_below_its_floor() -> None:
    test = significance(list(range(40)), n_perm=99)
    assert test.p == test.p_floor == 0.01


def test_the_seed_fixes_the_result() -> None:
    x = np.random.default_rng(0).integers(1, 6, 30)
    assert significance(x, n_perm=99, seed=1) == significance(x, n_perm=99, seed=1)
    assert significance(x, n_perm=99, seed=1).p != significance(x, n_perm=99, seed=2).p


def rejections(metric: str, runs: int, n: int, **options: Any) -> float:
    rng = np.random.default_rng(20)
    draws = rng.choice([1, 2, 3, 4, 5], (runs, n), p=[0.05, 0.1, 0.2, 0.35, 0.3])
    tests = [significance(x, metric, n_perm=199, seed=i, **options) for i, x in enumerate(draws)]
    return float(np.mean([test.p <= 0.05 for test in tests]))


@pytest.mark.slow
@each_row("metric", ["cin", "pen", "lis", "lnds"])
def test_the_size_on_ties_is_nominal(metric: str) -> None:
    # 400 runs at alpha .05: standard error .011, so at most .05 + 3 * .011
    share = rejections(metric, 400, 20)
    assert share <= 0.083
    if metric == "cin":
        assert share >= 0.02


@pytest.mark.slow
def test_the_size_of_other_nulls_is_nominal() -> None:
    # 200 runs: standard error .0154
    assert rejections("cin", 200, 40, null="block", block=4) <= 0.097


@pytest.mark.slow
def test_inversions_find_a_drift_that_entropy_does_not() -> None:
    rng = np.random.default_rng(5)
    hits = {"cin": 0, "pen": 0}
    for i in range(60):
        before = rng.choice([1, 2, 3, 4, 5], 50, p=[0.05, 0.1, 0.2, 0.35, 0.3])
        after = rng.choice([1, 2, 3, 4, 5], 50, p=[0.12, 0.2, 0.25, 0.28, 0.15])
        for metric in hits:
            test = significance(np.append(before, after), metric, n_perm=199, seed=i)
            hits[metric] += test.p <= 0.05
    # measured power .52 and .05 in 300 runs
    assert hits["cin"] / 60 == pytest.approx(0.52, abs=0.2)
    assert hits["pen"] / 60 <= 0.17


@pytest.mark.slow
def test_blocks_keep_the_size_where_scores_depend_on_the_last() -> None:
    rng = np.random.default_rng(6)
    shuffled = blocked = 0
    for i in range(80):
        x = np.convolve(rng.normal(size=107), np.ones(8), "valid")
        shuffled += significance(x, n_perm=199, seed=i).p <= 0.05
        blocked += significance(x, n_perm=199, seed=i, null="block", block=20).p <= 0.05
    assert shuffled / 80 > 0.3
    assert blocked / 80 < 0.2


def test_exact_blocks_are_all_orders_of_blocks() -> None:
    test = significance([1, 2, 3, 4, 5], null="block", block=2)
    orders = [[a for block in order for a in block] for order in permutations([[1, 2], [3, 4], [5]])]
    assert (test.orders, test.block) == (6, 2)
    assert test.null_mean == pytest.approx(np.mean([count_inversions(order) for order in orders]))
    assert significance(range(27), null="block", n_perm=9).block == 3


@each_row(
    ("x", "options", "message"),
    [
        ([], {}, "no scores to test"),
        ([1, 2], {"metric": "pen"}, "too few for m=3"),
        ([1, 2], {"metric": "mean"}, "unknown metric 'mean'"),
        ([1, 2], {"null": "iid"}, "unknown null 'iid'"),
        ([1, 2], {"alternative": "both"}, "unknown alternative 'both'"),
        ([1, 2], {"n_perm": 0}, "n_perm must be"),
        ([1, 2, 3], {"block": 2}, "block=2 requires null='block'"),
        ([1, 2, 3], {"null": "block", "block": 3}, "leaves no blocks to exchange"),
        ([1, math.nan], {}, "NaN"),
    ],
)
def test_errors_say_what_to_do(x: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        significance(x, **options)

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from rows import each_row
from scipy.stats import kendalltau

from hengwen.relevance_metrics import bootstrap_ci, permutation_entropy


def logistic_map(start: float, n: int) -> list[float]:
    x = [start]
    for _ in range(n - 1):
        x.append(4 * x[-1] * (1 - x[-1]))
    return x


@each_row("method", ["moving-block", "stationary"])
def test_block_intervals_cover_the_entropy_of_a_chaotic_map(method: Any) -> None:
    # the map's patterns have entropy 1.4898 (n = 400,000); coverage .915 in 200 runs of n = 100
    rng = np.random.default_rng(1)
    hits = 0
    for run in range(80):
        interval = bootstrap_ci(logistic_map(rng.uniform(0.1, 0.9), 100), method=method, n_boot=199, seed=run)
        hits += interval.low <= 1.4898 <= interval.high
    # standard error .024 at .95, .031 at .915
    assert 0.83 <= hits / 80 <= 1.0


def test_block_intervals_cover_log_6_in_random_order() -> None:
    # a percentile interval never does: entropy from samples is always lower
    rng = np.random.default_rng(2)
    hits = sum(
        interval.low <= math.log(6) <= interval.high + 1e-12
        for interval in (bootstrap_ci(rng.normal(size=60), n_boot=199, seed=run) for run in range(60))
    )
    assert hits / 60 >= 0.88


@pytest.mark.slow
@each_row("slope", [0.0, 1.0])
def test_tau_intervals_cover_on_a_trend_too(slope: float) -> None:
    rng = np.random.default_rng(3)
    rows = np.linspace(0, slope, 30) + rng.normal(size=(600, 30))
    truth = np.mean([kendalltau(range(30), row).statistic for row in rows])
    hits = 0
    for row in rows[:200]:
        interval = bootstrap_ci(row, "cin")
        hits += interval.low <= truth <= interval.high
    # measured .96 in 500 runs; standard error .0154
    assert hits / 200 >= 0.91


def test_the_estimate_is_tau_b_of_scipy() -> None:
    x = np.random.default_rng(4).integers(1, 6, 40)
    interval = bootstrap_ci(x, "cin")
    assert interval.estimate == pytest.approx(kendalltau(range(40), x).statistic, abs=1e-12)
    assert -1 < interval.low < interval.estimate < interval.high < 1
    assert (interval.method, interval.statistic, interval.n_boot, interval.block) == (
        "u-statistic",
        "tau_b",
        None,
        None,
    )


def test_a_higher_confidence_is_wider() -> None:
    x = np.random.default_rng(4).integers(1, 6, 40)
    for metric in ("cin", "pen"):
        narrow, wide = (
            bootstrap_ci(x, metric, confidence=confidence, n_boot=299) for confidence in (0.8, 0.99)
        )
        assert wide.low < narrow.low < narrow.high <= wide.high


def test_prompts_are_drawn_whole() -> None:
    rng = np.random.default_rng(5)
    level = rng.normal(size=(30, 1)) * 3
    x = level + np.arange(8) * 0.4 + rng.normal(size=(30, 8)) * 0.5
    for metric in ("cin", "lis", "lnds", "pen"):
        interval = bootstrap_ci(x, metric, n_boot=199)
        assert interval.low <= interval.estimate <= interval.high
        assert (interval.method, interval.prompts, interval.n) == ("prompts", 30, 8)
    assert bootstrap_ci(x, "cin", n_boot=199).low > 0.5
    assert bootstrap_ci(x, "pen", n_boot=199).estimate == pytest.approx(permutation_entropy(x.mean(axis=0)))


def test_equal_prompts_leave_no_doubt() -> None:
    x = [[1, 3, 2, 4]] * 5
    interval = bootstrap_ci(x, "cin", n_boot=50)
    assert interval.low == interval.estimate == interval.high == pytest.approx(2 / 3)
    assert bootstrap_ci([[2, 2, 2]] * 3, "cin", n_boot=50).estimate == 0


def test_the_seed_fixes_the_interval() -> None:
    x = np.random.default_rng(4).integers(1, 6, 40)
    assert bootstrap_ci(x, n_boot=99, seed=7) == bootstrap_ci(x, n_boot=99, seed=7)
    assert bootstrap_ci(x, n_boot=99, seed=7) != bootstrap_ci(x, n_boot=99, seed=8)


X = [1, 3, 2, 4, 6, 5, 7, 9, 8, 10, 12, 11]


@each_row(
    ("x", "metric", "options", "message"),
    [
        (
            X,
            "cin",
            {"method": "moving-block"},
            "lose the trend.*use 'u-statistic', or pass a row for each prompt",
        ),
        (X, "cin", {"method": "stationary"}, "lose the trend"),
        (X, "pen", {"method": "u-statistic"}, "use 'moving-block' or 'stationary'"),
        (X, "lis", {}, "spans the whole sequence.*pass a row for each prompt"),
        (X, "lnds", {"method": "moving-block"}, "spans the whole sequence"),
        (X, "pen", {"method": "prompts"}, "pass a row for each prompt"),
        (X, "pen", {"method": "iid"}, "unknown method 'iid'"),
        ([X, X], "pen", {"method": "moving-block"}, "takes one sequence"),
        ([X], "pen", {}, "two rows or more"),
        (X[:9], "cin", {}, "at least 10 scores, got 9"),
        (X[:9], "pen", {}, "at least 10 patterns, got 7"),
        ([3] * 12, "cin", {}, "all scores are equal"),
        (list(range(12)), "cin", {}, "tau is 1 with no variance"),
        (X, "pen", {"block": 6}, "at most half of the 10 patterns, got 6"),
        (X, "pen", {"confidence": 95}, "confidence must be between 0 and 1, got 95"),
        (X, "tau", {}, "unknown metric 'tau'"),
        ([[1, 2], [math.nan, 2]], "cin", {}, r"score \(1, 0\) is NaN"),
    ],
)
def test_refusals_say_why_and_what_to_do(x: Any, metric: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_ci(x, metric, **options)

"""How often gates are wrong, by simulation with fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row
from scipy.special import stdtrit
from scipy.stats import binom

from hengwen.monitoring.gates.thresholds import decide
from hengwen.stats.mean_interval import difference_interval, mean_interval
from hengwen.stats.paired import sign_flip_test
from hengwen.stats.power import alpha_at_look

LEVELS = np.array([0, 0.25, 0.5, 0.75, 1])
DISTRIBUTIONS = {
    "skew": [0.05, 0.1, 0.2, 0.35, 0.3],
    "ceil90": [0.025, 0.025, 0.025, 0.025, 0.9],
    "ceil97": [0.0075, 0.0075, 0.0075, 0.0075, 0.97],
    "even": [0.2] * 5,
    "pass rate .95": [0.05, 0, 0, 0, 0.95],
}
RUNS, CONFIRMED = 20_000, 10_000


def lower_bounds(values: np.ndarray) -> np.ndarray:
    """Return the lower bound of the interval of each row: ``mean_interval`` for one prompt a cluster."""
    count = values.shape[1] + 2
    mean = (values.sum(axis=1) + 1) / count
    squares = np.square(values - mean[:, None]).sum(axis=1) + np.square(mean) + np.square(1 - mean)
    half = stdtrit(count - 1, 0.975) * np.sqrt(squares / (count - 1) / count)
    return np.maximum(mean - half, 0)


def test_the_bounds_of_the_simulation_are_those_of_the_gate() -> None:
    values = np.random.default_rng(0).choice(LEVELS, (5, 12))
    expected = [mean_interval(row, scale=(0, 1)).bounds[0] for row in values]
    assert lower_bounds(values) == pytest.approx(expected)


def false_passes(name: str, prompts: int, runs: int = RUNS) -> float:
    """Return the share of runs that pass a gate whose limit is just above the truth."""
    shares = np.array(DISTRIBUTIONS[name])
    limit = float(shares @ LEVELS) + 1e-9
    values = np.random.default_rng(1).choice(LEVELS, (runs, prompts), p=shares)
    return float(np.mean(lower_bounds(values) >= limit))


@pytest.mark.slow
@each_row("name", DISTRIBUTIONS)
@each_row("prompts", [5, 6, 10, 20, 30, 50, 100])
def test_a_truth_just_below_the_limit_passes_in_at_most_four_of_a_hundred(name: str, prompts: int) -> None:
    assert false_passes(name, prompts) <= 0.04


@each_row("prompts", [5, 10, 20, 30, 50, 100, 200, 500, 1000])
def test_no_limit_of_a_pass_rate_passes_falsely_in_more_than_52_of_1000(prompts: int) -> None:
    """Exact: the worst limit for k passes is the lower bound of k passes."""
    passes = np.arange(1, prompts + 1)
    bounds = lower_bounds((np.arange(prompts) < passes[:, None]).astype(float))
    risks = np.where(bounds > 0, binom.sf(passes - 1, prompts, bounds), 0)
    assert risks.max() <= 0.052


LOOKS, PROMPTS, BASELINES = 20, 20, 1000


def passes_in_20_looks(baselines: int = BASELINES) -> float:
    """Return the share of baselines that any of 20 runs passes which are just below the margin."""
    rng = np.random.default_rng(2)
    margin, wrong = 0.3, 0
    for _ in range(baselines):
        prompts = rng.normal(0, 1, PROMPTS)
        baseline = prompts + rng.normal(0, 0.7, PROMPTS)
        for look in range(1, LOOKS + 1):
            later = prompts - margin - 1e-9 + rng.normal(0, 0.7, PROMPTS)
            confidence = 1 - 2 * alpha_at_look(look)
            bounds = difference_interval(later - baseline, confidence=confidence).bounds
            if decide(">=", bounds, -margin) == "passed":
                wrong += 1
                break
    return wrong / baselines


def falls_in_20_looks(baselines: int = BASELINES, *, pass_rate: float | None = None) -> float:
    """Return the share of baselines below which any of 20 equal runs is said to have fallen.

    Scores are normal or, with ``pass_rate``, passes of 30 prompts.
    """
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(baselines):
        prompts = rng.normal(0, 1, PROMPTS)

        def draw(prompts=prompts):
            if pass_rate is not None:
                return (rng.random(30) < pass_rate).astype(float)
            return prompts + rng.normal(0, 0.7, PROMPTS)

        baseline = draw()
        for look in range(1, LOOKS + 1):
            test = sign_flip_test(baseline, draw())
            if test.p <= alpha_at_look(look):
                wrong += 1
                break
    return wrong / baselines


@pytest.mark.slow
def test_twenty_runs_at_the_margin_of_one_baseline_pass_in_at_most_five_of_a_hundred() -> None:
    assert passes_in_20_looks() <= 0.05


@pytest.mark.slow
def test_twenty_equal_runs_fall_below_one_baseline_in_at_most_five_of_a_hundred() -> None:
    assert falls_in_20_looks() <= 0.05


@pytest.mark.slow
def test_twenty_equal_runs_at_a_ceiling_fall_in_at_most_six_of_a_hundred() -> None:
    assert falls_in_20_looks(300, pass_rate=0.95) <= 0.06


def test_the_levels_of_all_looks_add_up_to_five_percent() -> None:
    assert sum(alpha_at_look(look) for look in range(1, 100_000)) == pytest.approx(0.05, abs=1e-5)


REPEATS, FALLS = 2000, 500

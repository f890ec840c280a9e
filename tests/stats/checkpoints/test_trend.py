"""Tests whose units are checkpoints: equal to scipy and statsmodels, and rarely wrong."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row
from scipy import stats

from hengwen.stats.checkpoints.trend import newest_test, slope_test


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 5, 9, 100])
def test_the_slope_equals_linregress_and_ordinary_least_squares_of_statsmodels(n: int) -> None:
    import statsmodels.api as sm

    values = np.random.default_rng(n).normal(size=n)
    test = slope_test(values)
    line = stats.linregress(np.arange(n), values)
    assert (test.slope, test.p, test.error) == pytest.approx(
        (line.slope, line.pvalue, line.stderr), rel=1e-12
    )
    fit = sm.OLS(values, sm.add_constant(np.arange(n))).fit()
    assert (test.slope, test.p) == pytest.approx((fit.params[1], fit.pvalues[1]), rel=1e-9)
    assert test.interval == pytest.approx(tuple(fit.conf_int()[1]), rel=1e-9)
    assert test.residual_sd == pytest.approx(np.sqrt(fit.mse_resid), rel=1e-9)
    assert test.signal_to_noise == pytest.approx(abs(fit.params[1]) * (n - 1) / np.sqrt(fit.mse_resid))


@pytest.mark.parametrize("n", [4, 7, 30])
def test_the_newest_value_is_tested_like_a_sample_of_one(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n)
    test = newest_test(values)
    expected = stats.ttest_ind(values[-1:], values[:-1])
    assert test.p == pytest.approx(expected.pvalue, rel=1e-12)
    assert test.interval == pytest.approx(tuple(expected.confidence_interval()), rel=1e-9)
    assert test.predecessors == n - 1


def test_a_larger_variance_of_measurement_replaces_that_of_the_predecessors() -> None:
    values = [0.5, 0.5, 0.5, 0.51, 0.9]
    assert newest_test(values).p < 1e-5
    measured = newest_test(values, min_variance=0.04)
    assert measured.error == pytest.approx(0.2 * np.sqrt(1.25))
    assert measured.p > 0.1
    assert newest_test([0.0, 1.0, 0.0, 1.0], min_variance=1e-9) == newest_test([0.0, 1.0, 0.0, 1.0])


@each_row("values", [[], [1.0], [1.0, 2.0], [1.0, 3.0, 2.0], [0.25] * 9])
def test_below_four_checkpoints_and_without_movement_there_is_no_test(values: list[float]) -> None:
    assert slope_test(values) is None
    assert newest_test(values) is None


def test_a_perfect_line_has_no_movement_to_compare_with() -> None:
    assert slope_test([0.1, 0.2, 0.3, 0.4]) is None
    assert slope_test([1e9 + step for step in range(6)]) is None
    assert newest_test([1.0, 1.0, 1.0, 0.9]) is None


def test_the_detectable_change_is_detected_in_eight_of_ten_cases() -> None:
    rng = np.random.default_rng(0)
    n, sd = 8, 1.0
    error = sd / np.sqrt(np.square(np.arange(n) - (n - 1) / 2).sum())
    total = (stats.t.ppf(0.975, n - 2) + stats.t.ppf(0.8, n - 2)) * error * (n - 1)
    values = rng.normal(0, sd, (400, n)) + np.linspace(0, total, n)
    tests = [slope_test(row) for row in values]
    assert np.median([test.detectable() for test in tests]) == pytest.approx(total, rel=0.1)
    assert 0.75 <= np.mean([test.p <= 0.05 for test in tests]) <= 0.9


def slope_rejections(checkpoints: int, *, jitter: float, fall: float = 0.0, samples: int = 2000) -> float:
    """Return the share of slopes that are significant: five levels, 30 prompts, 3 repeats.

    Half of the variance of the latent answers, which is 1, belongs to their prompts. ``jitter`` is the
    standard deviation of the checkpoints, ``fall`` the total fall.
    """
    rng = np.random.default_rng(checkpoints)
    prompts, repeats = 30, 3
    cuts, spread = stats.norm.ppf([0.05, 0.15, 0.35, 0.7]), np.sqrt(0.5)
    line = np.linspace(0, fall, checkpoints)[:, None]
    significant = 0
    for _ in range(samples):
        latent = rng.normal(0, spread, (prompts, 1, 1)) + rng.normal(0, jitter, (checkpoints, 1)) - line
        answers = latent + rng.normal(0, spread, (prompts, checkpoints, repeats))
        test = slope_test(np.searchsorted(cuts, answers).mean(axis=(0, 2)) / 4)
        significant += test is not None and test.p <= 0.05  # of 4 means, some lie exactly on a line
    return significant / samples


@pytest.mark.slow
@each_row("checkpoints", [4, 5, 6, 8, 20])
@each_row("jitter", [0.0, 0.15])
def test_the_slope_is_significant_by_chance_in_four_to_six_of_a_hundred(
    checkpoints: int, jitter: float
) -> None:
    assert 0.037 - 0.008 <= slope_rejections(checkpoints, jitter=jitter) <= 0.058 + 0.008


@pytest.mark.slow
@pytest.mark.parametrize(("checkpoints", "power"), [(4, 0.34), (5, 0.46), (6, 0.62), (8, 0.76)])
def test_a_fall_among_checkpoints_that_jitter_has_the_power_of_the_design(
    checkpoints: int, power: float
) -> None:
    rejections = slope_rejections(checkpoints, jitter=0.15, fall=0.6, samples=1000)
    assert rejections == pytest.approx(power, abs=0.05)

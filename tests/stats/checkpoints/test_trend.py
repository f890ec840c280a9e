"""Tests whose units are checkpoints: equal to scipy and statsmodels, and rarely wrong."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row
from scipy import stats

from hengwen.stats.checkpoints import jump_test, newest_test, slope_test

from . import simulations
from .simulations import WALK, correlated_slope, courses, falls, rejections, slope_rejections


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
    assert test.freedom == n - 2


def test_a_larger_variance_of_measurement_replaces_that_of_the_predecessors() -> None:
    values = [0.5, 0.5, 0.5, 0.51, 0.9]
    assert newest_test(values).p < 1e-5
    measured = newest_test(values, min_variance=0.04)
    assert measured.error == pytest.approx(0.2 * np.sqrt(1.25))
    assert measured.p > 0.1
    assert newest_test([0.0, 1.0, 0.0, 1.0], min_variance=1e-9) == newest_test([0.0, 1.0, 0.0, 1.0])


def test_neighbours_that_move_together_widen_the_error_of_the_slope() -> None:
    values = np.array([0.0, 2.0, 1.0, 4.0, 6.0, 5.0, 5.0, 9.0])
    independent, test = slope_test(values), slope_test(values, correlated=True)
    residuals = values - np.polyval(np.polyfit(range(8), values, 1), range(8))
    lag = (residuals[1:] @ residuals[:-1]) / (residuals @ residuals)
    rho = np.clip((4 * np.clip((8 * lag + 2) / 4, -0.5, 0.97) + 1.6) / 12, 0, 0.97)
    factor = (1 + rho) / (1 - rho)
    assert test.correlation == pytest.approx(rho)
    assert test.error == pytest.approx(independent.error * np.sqrt(factor * 6 / (8 - 2 * factor)))
    assert test.freedom == pytest.approx(8 / factor - 2)
    assert test.slope == independent.slope


def test_a_course_that_goes_up_and_down_by_turns_keeps_its_error() -> None:
    values = [0.0, 2.0, 1.0, 3.0, 2.0, 4.0, 3.0, 5.0]
    assert slope_test(values, correlated=True) == slope_test(values)


def test_a_long_wave_leaves_two_degrees_of_freedom() -> None:
    wave = np.sin(np.linspace(0, 2 * np.pi, 40))
    test = slope_test(wave, correlated=True)
    assert (test.freedom, test.correlation > 0.8, test.p > 0.1) == (2, True, True)
    assert slope_test(wave).p < 1e-5


def test_the_last_step_is_measured_by_the_steps_before_it() -> None:
    values = [0.0, 1.0, 0.0, -1.0, 1.0, 4.0]
    test = jump_test(values)
    error = np.sqrt((1 + 1 + 1 + 4) / 4)
    assert (test.difference, test.error, test.freedom) == (3.0, pytest.approx(error), 3)
    assert test.p == pytest.approx(2 * stats.t.sf(3 / error, 3))
    assert jump_test(values, min_variance=8.0).error == 4
    assert jump_test(values[:4]) is None
    assert jump_test([1.0, 1.0, 1.0, 1.0, 2.0]) is None


@pytest.mark.slow
@pytest.mark.parametrize(("correlation", "size"), [(0.0, 0.035), (0.3, 0.065), (0.6, 0.105), (WALK, 0.28)])
@each_row("checkpoints", [5, 8, 20])
def test_a_course_without_a_trend_has_one_by_chance_as_often_as_stated(
    checkpoints: int, correlation: float, size: float
) -> None:
    share = rejections(correlated_slope, courses(correlation, checkpoints, 1000))
    assert share <= size + 2 * np.sqrt(size * (1 - size) / 1000)


@pytest.mark.slow
@pytest.mark.parametrize(("fall", "power"), [(0.6, 0.48), (0.9, 0.73), (1.2, 0.85)])
def test_a_fall_over_eight_checkpoints_is_seen_as_often_as_stated(fall: float, power: float) -> None:
    assert rejections(correlated_slope, falls(fall, 8, 1000)) == pytest.approx(power, abs=0.04)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("correlation", "newest", "jump"), [(0.0, 0.05, 0.05), (0.6, 0.075, 0.05), (WALK, 0.15, 0.05)]
)
@each_row("checkpoints", [5, 12, 40])
def test_the_newest_checkpoint_and_the_last_step_stand_out_by_chance_as_often_as_stated(
    checkpoints: int, correlation: float, newest: float, jump: float
) -> None:
    values = courses(correlation, checkpoints, 1000)
    assert rejections(newest_test, values) <= newest + 0.02
    assert rejections(jump_test, values) <= jump + 0.015


@pytest.mark.slow
def test_a_trend_is_hardly_ever_withdrawn_by_the_next_checkpoint() -> None:
    values = falls(0.6, 8, 300)
    longer = np.hstack([values, values[:, -1:] - 0.6 / 7])
    assert simulations.withdrawn(longer) <= 0.06


@pytest.mark.slow
@pytest.mark.parametrize(("correlation", "share"), [(0.0, 0.03), (0.6, 0.12)])
def test_over_many_looks_a_course_without_a_trend_seldom_has_one(correlation: float, share: float) -> None:
    assert simulations.named_at_any_look(correlation, 150, looks=20) <= share


@each_row("values", [[], [1.0], [1.0, 2.0], [1.0, 3.0, 2.0], [0.25] * 9])
def test_below_four_checkpoints_and_without_movement_there_is_no_test(values: list[float]) -> None:
    assert slope_test(values) is None
    assert newest_test(values) is None


def test_a_perfect_line_has_no_movement_to_compare_with() -> None:
    assert slope_test([0.1, 0.2, 0.3, 0.4]) is None
    assert slope_test([1e9 + step for step in range(6)]) is None
    assert newest_test([1.0, 1.0, 1.0, 0.9]) is None


@pytest.mark.slow
def test_the_detectable_change_is_detected_in_eight_of_ten_cases() -> None:
    rng = np.random.default_rng(0)
    n, sd = 8, 1.0
    error = sd / np.sqrt(np.square(np.arange(n) - (n - 1) / 2).sum())
    total = (stats.t.ppf(0.975, n - 2) + stats.t.ppf(0.8, n - 2)) * error * (n - 1)
    values = rng.normal(0, sd, (400, n)) + np.linspace(0, total, n)
    tests = [slope_test(row) for row in values]
    assert np.median([test.detectable() for test in tests]) == pytest.approx(total, rel=0.1)
    assert 0.75 <= np.mean([test.p <= 0.05 for test in tests]) <= 0.9


@pytest.mark.slow
@each_row("checkpoints", [4, 8])
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

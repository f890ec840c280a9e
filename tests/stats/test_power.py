"""Power of a t test: statsmodels as oracle, a simulation of one-sided and two-sided tests, and the edges."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np
import pytest
from rows import each_row

from hengwen.stats.power import (
    can_be_significant,
    detectable_difference,
    detectable_effect,
    least_number,
    power_of_t,
)


@each_row("effect", [-0.9, -0.2, 0.0, 0.1, 0.35, 2.0])
@each_row("n", [2, 5, 26, 300])
@each_row("alpha", [0.05, 0.01])
def test_power_is_that_of_statsmodels(effect: float, n: int, alpha: float) -> None:
    power = pytest.importorskip("statsmodels.stats.power", reason="statsmodels is not installed")
    test = power.TTestPower()
    error, freedom = 1 / n**0.5, n - 1
    two_sided = float(test.power(effect, n, alpha))
    one_sided = float(test.power(effect, n, alpha, alternative="larger"))
    if not np.isnan(two_sided):  # statsmodels has no value where a tail is too small for scipy.special.nctdtr
        assert power_of_t(effect, error, freedom, alpha) == pytest.approx(two_sided, abs=1e-9)
    if not np.isnan(one_sided):
        assert power_of_t(effect, error, freedom, alpha, sides=1) == pytest.approx(one_sided, abs=1e-9)


@each_row("sides", [1, 2])
def test_power_is_the_share_of_simulated_tests_that_reject(sides: Literal[1, 2]) -> None:
    from scipy import stats

    values = np.random.default_rng(3).normal(0.5, 1, (20_000, 12))
    side = {1: "greater", 2: "two-sided"}[sides]
    rejected = float((stats.ttest_1samp(values, 0, axis=1, alternative=side).pvalue <= 0.05).mean())
    assert power_of_t(0.5, 12**-0.5, 11, sides=sides) == pytest.approx(rejected, abs=0.01)


@each_row("sides", [1, 2])
@each_row("freedom", [1, 2.5, 25, 1e6])
def test_power_grows_with_the_effect_from_alpha_to_1(sides: Literal[1, 2], freedom: float) -> None:
    effects = [0, 0.01, 0.5, 1, 2, 5, 20, 300, 1e5, 1e9, 1e30, 1e300]
    powers = [power_of_t(effect, 0.5, freedom, 0.02, sides=sides) for effect in effects]
    assert powers[0] == pytest.approx(0.02)
    assert powers[-1] == pytest.approx(1)
    assert all(a <= b + 1e-12 for a, b in pairwise(powers))


def test_the_sign_matters_for_one_side_only() -> None:
    assert power_of_t(-0.3, 0.2, 9) == power_of_t(0.3, 0.2, 9)
    assert power_of_t(-0.3, 0.2, 9, sides=1) < 0.05 < power_of_t(0.3, 0.2, 9, sides=1)
    assert power_of_t(-1e300, 0.2, 9, sides=1) == 0


@each_row(
    ("effect", "error", "freedom", "alpha"),
    [
        (0.1, 0.0, 9, 0.05),
        (0.1, -1.0, 9, 0.05),
        (float("nan"), 0.1, 9, 0.05),
        (float("inf"), 0.1, 9, 0.05),
        (0.1, float("nan"), 9, 0.05),
        (0.1, 0.1, 0, 0.05),
        (0.1, 0.1, 9, 0.0),
        (0.1, 0.1, 9, 1.0),
    ],
)
def test_numbers_out_of_range_are_refused(effect: float, error: float, freedom: float, alpha: float) -> None:
    with pytest.raises(ValueError, match="no power of effect"):
        power_of_t(effect, error, freedom, alpha)


@each_row("freedom", [1, 2.5, 25, 1e6])
@each_row("alpha", [0.05, 0.001])
@each_row("sides", [1, 2])
def test_the_detectable_effect_is_detected_with_the_power(
    sides: Literal[1, 2], alpha: float, freedom: float
) -> None:
    effect = detectable_effect(3.0, freedom, alpha, 0.9, sides=sides)
    assert power_of_t(effect, 3.0, freedom, alpha, sides=sides) == pytest.approx(0.9, abs=1e-6)


def test_the_figures_of_26_lyrics_with_a_detectable_difference_of_7_8() -> None:
    error = 7.76 / detectable_effect(1.0, 25)
    assert detectable_effect(error, 25) == pytest.approx(7.76)
    assert power_of_t(2.0, error, 25, sides=1) == pytest.approx(0.18, abs=0.005)
    assert power_of_t(2.0, error * (26 / 300) ** 0.5, 299, sides=1) == pytest.approx(0.8, abs=0.02)
    assert detectable_effect(error, 25, sides=1) == pytest.approx(6.8, abs=0.1)


@each_row(
    ("error", "alpha", "power"), [(0.0, 0.05, 0.8), (-1.0, 0.05, 0.8), (0.1, 0.05, 0.05), (0.1, 0.05, 1.0)]
)
def test_no_effect_is_detected_surely_or_without_an_error(error: float, alpha: float, power: float) -> None:
    with pytest.raises(ValueError, match="no effect is detected"):
        detectable_effect(error, 9, alpha, power)


@each_row("number", [1, 2, 3, 4, 5, 6, 7, 8, 289, 999_999, 1_000_000])
def test_the_least_number_is_the_first_that_is_enough(number: int) -> None:
    assert least_number(lambda count: count >= number, 1) == number


def test_no_number_above_a_million_is_returned() -> None:
    assert least_number(lambda count: count > 1_000_000) is None


def test_the_smallest_continuous_difference_is_that_of_the_noncentral_t() -> None:
    differences = np.random.default_rng(1).normal(0.3, 0.2, 26)
    error = differences.std(ddof=1) / 26**0.5
    found = detectable_difference(differences, None, 0.01, span=10.0)
    assert found == pytest.approx(detectable_effect(error, 25, 0.01))
    doubled = np.repeat(differences, 2)
    names = [str(index) for index in range(26) for _ in range(2)]
    assert detectable_difference(doubled, names, 0.01, span=10.0) == pytest.approx(found)


@each_row(
    ("differences", "options"),
    [
        (np.linspace(-1, 1, 11), {}),
        ([0.5] * 20, {}),
        ([0.0] * 13 + list(np.linspace(-0.5, 0.5, 7)), {}),
        (np.linspace(-1, 1, 20), {"span": 0.1}),
        ([1.0, *[1e-9] * 12], {}),
        (np.linspace(-1, 1, 12), {"alpha": 1e-4}),
        ([0.0] * 11, {"span": 1.0, "continuous": False}),
        ([0.0] * 14, {"span": 1.0, "continuous": False, "alpha": 1e-5}),
    ],
    ids=["eleven", "equal", "mostly 0", "beyond the scale", "one prompt", "level", "few passes", "too few"],
)
def test_what_cannot_be_estimated_or_reached_is_unknown(differences, options) -> None:
    assert detectable_difference(differences, None, **options) is None


def test_equal_passes_can_fall_by_what_the_flips_can_reach() -> None:
    fall = detectable_difference([0.0] * 40, None, span=1.0, continuous=False)
    assert fall is not None
    assert fall * 40 >= 6, "six prompts of one sign are the fewest that are significant"
    moved = [1.0, -1.0] + [0.0] * 38
    assert detectable_difference(moved, None, span=1.0, continuous=False) > fall


@each_row("alpha", [0.05, 0.01])
@each_row("n", [3, 6, 8, 20])
def test_differences_of_one_sign_can_be_significant_where_scipy_and_the_sign_test_say_so(
    n: int, alpha: float
) -> None:
    from scipy.stats import binomtest, ttest_1samp

    rng = np.random.default_rng(n)
    for spread in (0.1, 0.5, 1.0, 2.0, 4.0):
        differences = rng.lognormal(0, spread, n)
        square = differences.sum() ** 2 / np.square(differences).sum()
        by_sign = binomtest(n, n).pvalue <= alpha
        by_t = ttest_1samp(differences, 0).pvalue <= alpha
        assert can_be_significant(n, square, n, alpha) == (by_sign and by_t)

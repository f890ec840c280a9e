"""The difference of two independent estimates, against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from hengwen.stats.power import MeanEstimate, interval_of_difference


def estimate(values) -> MeanEstimate:
    return MeanEstimate(value=float(np.mean(values)), error=float(stats.sem(values)), freedom=len(values) - 1)


def test_the_difference_has_the_p_value_of_welchs_test() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(0, 1, 20), rng.normal(0.5, 3, 35)
    expected = stats.ttest_ind(first, second, equal_var=False)
    difference = estimate(first).minus(estimate(second))
    assert difference.p == pytest.approx(expected.pvalue)
    assert difference.freedom == pytest.approx(expected.df)


def test_an_unknown_spread_gives_no_significance() -> None:
    constant = MeanEstimate(value=0.5, error=0.0, freedom=9)
    assert constant.p == 1.0
    assert constant.detectable() is None
    assert constant.minus(constant).p == 1.0


def test_the_detectable_value_has_the_power() -> None:
    error, freedom = 0.02, 59
    smallest = MeanEstimate(value=0.0, error=error, freedom=freedom).detectable(0.05)
    beyond = stats.nct.sf(stats.t.ppf(0.975, freedom), freedom, smallest / error)
    assert beyond == pytest.approx(0.8, abs=0.01)


def test_the_interval_is_that_of_normal_estimates() -> None:
    assert interval_of_difference(1.0, (0.7, 1.3), 2.0, (1.6, 2.4)) == pytest.approx((-1.5, -0.5))
    assert interval_of_difference(1.0, None, 2.0, (1.6, 2.4)) is None

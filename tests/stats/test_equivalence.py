"""Is a difference within a margin, and how many units would show it?"""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row
from scipy import stats

from hengwen.stats.mean_interval import difference_interval
from hengwen.stats.power import is_within, scale_factor, units_needed


def power(units: int, deviation: float, margin: float) -> float:
    """Return how often a difference of 0 is called equivalent, by simulation of mean and variance."""
    rng = np.random.default_rng(0)
    means = rng.normal(0, deviation / np.sqrt(units), 20_000)
    errors = deviation * np.sqrt(rng.chisquare(units - 1, 20_000) / (units - 1) / units)
    return float(np.mean(np.abs(means) + stats.t.ppf(0.95, units - 1) * errors <= margin))


@each_row(("deviation", "margin"), [(0.17, 0.04), (0.3, 0.04), (8.0, 2.0)])
def test_the_number_of_units_has_the_power(deviation: float, margin: float) -> None:
    units = units_needed(deviation, margin)
    assert units is not None
    assert power(units, deviation, margin) == pytest.approx(0.8, abs=0.02)


def test_equal_differences_need_as_many_units_as_pseudo_differences_allow() -> None:
    units = units_needed(0.0, 0.04, reach=1.0)
    assert units is not None
    interval = difference_interval([0.0] * units, scale=(0, 1), confidence=0.9).bounds
    assert is_within(interval, 0.04)
    assert not is_within(difference_interval([0.0] * (units // 2), scale=(0, 1), confidence=0.9).bounds, 0.04)


def test_an_unknown_spread_and_impossible_margins_have_no_number() -> None:
    assert units_needed(0.0, 0.04) is None
    assert units_needed(1.0, 1e-6) is None
    assert units_needed(1.0, 1e-6, reach=1.0) is None


def test_a_sample_that_grows_by_the_factor_has_the_power() -> None:
    error = 0.17 / np.sqrt(60)
    assert 60 * scale_factor(error, 0.04) == pytest.approx(units_needed(0.17, 0.04), abs=1)


def test_the_ends_of_the_margin_are_within_it() -> None:
    assert is_within((-0.04, 0.04), 0.04)

"""Variance components: an analysis of variance by hand, scipy and statsmodels as oracles, a simulation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

from hengwen.stats.paired_variance import variance_components


def names(sizes: list[int]) -> list[str]:
    return [f"g{index}" for index, size in enumerate(sizes) for _ in range(size)]


def test_an_analysis_of_variance_by_hand() -> None:
    # means 2, 6, 4; MSB = 2 * (4 + 4 + 0) / 2 = 8; MSW = 6 / 3 = 2; between = (8 - 2) / 2
    result = variance_components([1, 3, 5, 7, 3, 5], names([2, 2, 2]))
    assert (result.between, result.within) == (3.0, 2.0)


@pytest.mark.parametrize("sizes", [[4] * 9, [1, 2, 3, 9, 5, 1], [1] * 8 + [30]], ids=str)
def test_the_mean_squares_are_those_of_scipy(sizes: list[int]) -> None:
    rng = np.random.default_rng(len(sizes))
    groups = names(sizes)
    values = np.repeat(rng.normal(0, 3, len(sizes)), sizes) + rng.normal(size=len(groups))
    result = variance_components(values, groups)
    parts = np.split(values, np.cumsum(sizes)[:-1])
    n = len(values)
    size = (n - sum(k * k for k in sizes) / n) / (len(sizes) - 1)
    f = stats.f_oneway(*parts).statistic
    assert result.within is not None
    assert result.between == pytest.approx(max(0, (f - 1) * result.within / size))
    pooled = sum(((part - part.mean()) ** 2).sum() for part in parts) / (n - len(sizes))
    assert result.within == pytest.approx(pooled)


def test_equal_groups_give_the_components_of_a_mixed_model() -> None:
    api = pytest.importorskip("statsmodels.regression.mixed_linear_model", reason="statsmodels is missing")
    rng = np.random.default_rng(5)
    groups = names([5] * 12)
    values = np.repeat(rng.normal(0, 2, 12), 5) + rng.normal(size=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = api.MixedLM(values, np.ones(60), groups).fit(reml=True)
    result = variance_components(values, groups)
    assert result.between == pytest.approx(float(fit.cov_re[0, 0]), rel=1e-3)
    assert result.within == pytest.approx(float(fit.scale), rel=1e-3)


def test_groups_that_differ_less_than_chance_have_no_variance_between_them() -> None:
    result = variance_components([0.0, 1.0, 0.0, 1.0], names([2, 2]))
    assert (result.between, result.within) == (0.0, 0.5)


def test_single_values_have_one_variance() -> None:
    result = variance_components([1.0, 2.0, 6.0], names([1, 1, 1]))
    assert (result.between, result.within) == (7.0, None)


def test_equal_values_have_no_variance_whatever_their_size() -> None:
    result = variance_components([1e9 + 0.1] * 6, names([2, 4]))
    assert result.within == pytest.approx(0, abs=1e-9)
    assert result.between == pytest.approx(0, abs=1e-9)


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="2 values but 1 groups"):
        variance_components([1.0, 2.0], ["a"])
    with pytest.raises(ValueError, match="at least two groups, got 1"):
        variance_components([1.0, 2.0], ["a", "a"])


@pytest.mark.slow
def test_unequal_groups_are_estimated_without_bias() -> None:
    rng, sizes = np.random.default_rng(1), [1] * 16 + [2] * 5 + [10] * 5
    groups, results = names(sizes), []
    for _ in range(2000):
        values = np.repeat(rng.normal(0, 2, len(sizes)), sizes) + rng.normal(0, 3, len(groups))
        results.append(variance_components(values, groups))
    assert np.mean([result.between for result in results]) == pytest.approx(4, rel=0.05)
    assert np.mean([result.within or 0 for result in results]) == pytest.approx(9, rel=0.02)

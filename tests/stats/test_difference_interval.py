"""The interval of a mean difference: scipy's paired t, pseudo-differences where most are equal, weights."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row
from scipy import stats

from hengwen.stats.mean_interval import (
    CONTINUOUS_WEIGHT,
    Bounds,
    DifferenceInterval,
    difference_interval,
    mean_interval,
)


def bounds(result: DifferenceInterval) -> Bounds:
    assert result.bounds is not None
    return result.bounds


def interval_by_hand(extended: list[float], weight: float) -> Bounds:
    """Return the weighted jackknife interval of values, of which the last two have ``weight``."""
    values, sizes = np.array(extended), np.array([1.0] * (len(extended) - 2) + [weight] * 2)
    mean, total, groups = np.average(values, weights=sizes), sizes.sum(), len(sizes)
    without = [np.average(np.delete(values, i), weights=np.delete(sizes, i)) - mean for i in range(groups)]
    error = np.sqrt((groups - 1) / groups * np.square(without).sum())
    return tuple(stats.t.interval(0.95, total**2 / np.square(sizes).sum() - 1, mean, error))


@each_row("n", [2, 9, 60])
def test_t_is_the_paired_t_test_of_scipy(n: int) -> None:
    rng = np.random.default_rng(n)
    earlier, later = rng.normal(size=n), rng.normal(size=n) + 0.5
    result = difference_interval(later - earlier)
    expected = stats.ttest_rel(later, earlier)
    assert result.t == pytest.approx(tuple(expected.confidence_interval()))
    assert result.t_p == pytest.approx(expected.pvalue)
    assert result.pseudo is None
    assert result.bounds == result.t


def test_pseudo_differences_lie_at_plus_and_minus_the_range() -> None:
    differences = [0.5, 0.0, 0.0, -0.25, 0.0, 0.0, 1.0]
    extended = [*differences, -4.0, 4.0]
    expected = stats.t.interval(0.95, 8, np.mean(extended), stats.sem(extended))
    result = difference_interval(differences, scale=(1, 5))
    assert result.pseudo == pytest.approx(expected)
    assert result.reach == 4
    assert result.bounds == result.pseudo


def test_continuous_differences_reach_as_far_as_the_largest_one_seen() -> None:
    differences = [3.0, -2.0, 7.5, -11.0, 4.0, 0.0]
    result = difference_interval(differences, scale=(0, 110), continuous=True)
    assert result.reach == 11
    assert result.bounds == pytest.approx(interval_by_hand([*differences, -11.0, 11.0], CONTINUOUS_WEIGHT))
    wider = difference_interval(differences, scale=(0, 110), continuous=True, reach=30.0)
    assert wider.reach == 30, "another pair of checkpoints differs more"
    assert difference_interval(differences, scale=(0, 20), continuous=True, reach=30.0).reach == 20
    assert difference_interval([0.0] * 6, scale=(0, 110), continuous=True).reach == 110
    assert difference_interval(differences, continuous=True).bounds == result.bounds
    assert difference_interval([0.0] * 6, continuous=True).bounds is None


def test_a_pseudo_cluster_has_the_mean_size_of_the_clusters() -> None:
    differences, names = [0.5, 0.25, 0.0, 0.75, 0.25, -0.25], list("aabbcc")
    extended = [*differences, -4.0, -4.0, 4.0, 4.0]
    expected = mean_interval(extended, [*names, *"ddee"]).bounds
    assert difference_interval(differences, names, scale=(1, 5)).pseudo == pytest.approx(expected)


def test_equal_differences_have_an_interval_on_a_scale_only() -> None:
    assert difference_interval([0.25] * 8, scale=(0, 1)).t is None
    low, high = bounds(difference_interval([0.25] * 8, scale=(0, 1)))
    assert low < 0.25 < high
    assert difference_interval([0.25] * 8).bounds is None
    assert difference_interval([0.25], scale=(0, 1)).bounds is None


def test_clusters_are_the_units() -> None:
    by_prompt = difference_interval([0.5, 0.5, -0.1, -0.1, 0.3, 0.3])
    by_cluster = difference_interval([0.5, 0.5, -0.1, -0.1, 0.3, 0.3], ["a", "a", "b", "b", "c", "c"])
    assert by_cluster.t == pytest.approx(difference_interval([0.5, -0.1, 0.3]).t)
    assert by_cluster.t_p > by_prompt.t_p


def test_a_weighted_mean_is_in_the_middle_of_its_interval() -> None:
    low, high = bounds(difference_interval([1.0, 2.0, 6.0], weights=[0.5, 0.5, 2.0]))
    assert (low + high) / 2 == pytest.approx(13.5 / 3)
    equal = difference_interval([1.0, 2.0, 6.0], weights=[1.0, 1.0, 1.0])
    assert equal.t == difference_interval([1.0, 2.0, 6.0]).t
    repeated = difference_interval([1.0, 3.0, 6.0], ["a", "b", "b"], weights=[1.0, 1.0, 1.0])
    assert repeated.t == pytest.approx(difference_interval([1.0, 3.0, 6.0], ["a", "b", "b"]).t)


@pytest.mark.slow
@each_row("prompts", [10, 30, 100])
@each_row("drop", [0.0, 0.05, 0.3])
def test_the_interval_covers_the_true_difference_near_the_top_of_a_scale(prompts: int, drop: float) -> None:
    """Nine of ten values are at the top; a share of the prompts falls by one level."""
    rng = np.random.default_rng(prompts)
    levels, shares = np.array([0, 0.25, 0.5, 0.75, 1]), [0.025] * 4 + [0.9]
    hits, samples = 0, 600
    truth = -0.25 * drop * (1 - 0.025)
    for _ in range(samples):
        earlier, later = rng.choice(levels, (2, prompts), p=shares)
        later = np.maximum(0, later - 0.25 * (rng.random(prompts) < drop))
        low, high = bounds(difference_interval(later - earlier, scale=(0, 1)))
        hits += low <= truth <= high
    assert hits / samples >= 0.92

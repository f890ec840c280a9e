"""The interval of a mean: hand values, textbook t, clusters, scales, and what has no interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import each_row
from scipy import stats

from hengwen.stats.mean_interval import MeanInterval, cluster_sums, mean_interval

UNIT = (0.0, 1.0)


@each_row(
    ("values", "expected"),
    [
        pytest.param([0.75] * 6, (0.44, 0.93), id="six equal values inside the scale"),
        pytest.param([1.0] * 30, (0.905, 1.0), id="thirty at the top"),
        pytest.param([0.0] * 30, (0.0, 0.095), id="thirty at the bottom"),
    ],
)
def test_equal_values_on_a_scale_give_no_certainty(
    values: list[float], expected: tuple[float, float]
) -> None:
    assert mean_interval(values, scale=UNIT).bounds == pytest.approx(expected, abs=0.005)


def test_without_a_scale_and_clusters_it_is_the_textbook_t_interval() -> None:
    values = np.random.default_rng(1).normal(size=25)
    expected = stats.t.interval(0.9, 24, loc=values.mean(), scale=stats.sem(values))
    assert mean_interval(values, confidence=0.9).bounds == pytest.approx(expected)


def test_with_a_scale_it_is_the_t_interval_of_two_more_prompts() -> None:
    values = np.random.default_rng(2).random(25)
    longer = np.append(values, [0.0, 1.0])
    expected = stats.t.interval(0.95, 26, loc=longer.mean(), scale=stats.sem(longer))
    assert mean_interval(values, scale=UNIT).bounds == pytest.approx(expected)


def test_a_pseudo_cluster_has_the_mean_size_of_the_clusters() -> None:
    values, names = [0.5, 0.25, 0.0, 0.75, 0.25, 1.0], list("aaabbb")
    extended, more = [*values, *[0.0] * 3, *[1.0] * 3], [*names, *"cccddd"]
    bounds = mean_interval(extended, more).bounds
    assert bounds is not None
    low, high = bounds
    assert mean_interval(values, names, scale=UNIT).bounds == pytest.approx((max(low, 0), min(high, 1)))


def test_six_conversations_that_all_passed_are_six_units() -> None:
    names = [str(turn // 20) for turn in range(120)]
    bounds = mean_interval([1.0] * 120, names, scale=UNIT).bounds
    assert bounds == mean_interval([1.0] * 6, scale=UNIT).bounds
    assert bounds is not None
    assert bounds[0] < 0.7


@each_row(
    ("values", "ends"),
    [
        ([0.5] * 10 + [0.6] * 10, (0.2, 0.9)),
        ([0.05] * 10 + [0.1] * 10, (0.0, 0.25)),
        ([0.5] * 10 + [0.6] * 9, UNIT),
        ([0.5] * 30, UNIT),
        ([0.1] * 15 + [0.9] * 15, UNIT),
    ],
    ids=["stretched", "cut to the scale", "below 20", "all equal", "wide"],
)
def test_unseen_means_of_a_continuous_score_lie_within_the_stretched_range(
    values: list[float], ends: tuple[float, float]
) -> None:
    result = mean_interval(values, scale=UNIT, continuous=True)
    assert result.ends == pytest.approx(ends)
    discrete = mean_interval(values, scale=UNIT)
    assert discrete.ends == UNIT
    assert result.bounds is not None
    assert discrete.bounds is not None
    assert result.bounds[1] - result.bounds[0] < discrete.bounds[1] - discrete.bounds[0]


def test_the_range_is_stretched_where_the_effective_clusters_are_twenty() -> None:
    names = [str(index // 2) for index in range(40)]
    values = np.random.default_rng(3).uniform(0.5, 0.6, 40)
    ends = mean_interval(values, names, scale=UNIT, continuous=True).ends
    assert ends is not None
    means = values.reshape(20, 2).mean(axis=1)
    reach = 3 * np.ptp(means)
    assert ends == pytest.approx((max(0, means.min() - reach), min(1, means.max() + reach)))
    assert mean_interval(values[2:], names[2:], scale=UNIT, continuous=True).ends == UNIT


def test_an_unbounded_score_has_no_ends() -> None:
    assert mean_interval([1.0, 2.0, 4.0], continuous=True).ends is None


def test_the_jackknife_leaves_out_whole_clusters() -> None:
    values, clusters = np.array([1.0, 2.0, 3.0, 7.0]), ["a", "a", "b", "c"]
    without = np.array([(3 + 7) / 2, (1 + 2 + 7) / 3, (1 + 2 + 3) / 3])
    error = np.sqrt(2 / 3 * np.square(without - values.mean()).sum())
    half = stats.t.ppf(0.975, 16 / 6 - 1) * error
    bounds = mean_interval(values, clusters).bounds
    assert bounds == pytest.approx((values.mean() - half, values.mean() + half))


def test_the_effective_number_of_clusters_counts_large_clusters_less() -> None:
    clusters = [*("abcdefgh"), *["z"] * 8]
    assert mean_interval([0.5] * 16, clusters, scale=UNIT).effective_clusters == pytest.approx(256 / 72)


def test_correlated_prompts_of_one_cluster_widen_the_interval() -> None:
    values = [0.0] * 5 + [1.0] * 5 + [0.5] * 10
    apart = mean_interval(values, scale=UNIT).bounds
    together = mean_interval(values, ["a"] * 5 + ["b"] * 5 + [str(i) for i in range(10)], scale=UNIT).bounds
    assert apart is not None
    assert together is not None
    assert together[1] - together[0] > 1.5 * (apart[1] - apart[0])


@each_row(
    ("values", "clusters", "scale", "reason"),
    [
        ([], None, UNIT, "one prompt or cluster"),
        ([0.5], None, UNIT, "one prompt or cluster"),
        ([0.5, 0.75], ["a", "a"], UNIT, "one prompt or cluster"),
        ([3.0, 3.0, 3.0], None, None, "all values are equal on an unbounded scale"),
    ],
)
def test_where_there_is_no_interval_the_reason_is_given(
    values: list[float], clusters: list[str] | None, scale: tuple[float, float] | None, reason: str
) -> None:
    result = mean_interval(values, clusters, scale=scale)
    assert (result.bounds, result.reason) == (None, reason)


@pytest.mark.slow
@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=2, max_size=60))
def test_an_interval_on_a_scale_has_width_lies_on_the_scale_and_holds_the_shrunken_mean(
    values: list[float],
) -> None:
    bounds = mean_interval(values, scale=UNIT).bounds
    assert bounds is not None
    low, high = bounds
    assert 0 <= low < high <= 1
    assert low <= (sum(values) + 1) / (len(values) + 2) <= high


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=2, max_size=40), st.floats(-3, 3), st.floats(0.1, 50))
def test_it_moves_and_stretches_with_the_scale(values: list[float], shift: float, factor: float) -> None:
    bounds = mean_interval(values, scale=UNIT).bounds
    moved = mean_interval([shift + factor * value for value in values], scale=(shift, shift + factor)).bounds
    assert bounds is not None
    assert moved == pytest.approx(tuple(shift + factor * bound for bound in bounds), abs=1e-9 * factor + 1e-9)


@each_row("confidence", [0.0, 1.0, -1.0])
def test_a_confidence_off_its_range_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match=r"confidence must lie in \(0, 1\)"):
        mean_interval([1.0, 2.0], confidence=confidence)


def test_values_and_clusters_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="2 values but 1 clusters"):
        mean_interval([1.0, 2.0], ["a"])


def test_distinct_clusters_are_the_prompts_themselves() -> None:
    sums, sizes = cluster_sums(np.array([3.0, 1.0]), ["b", "a"])
    assert (sums.tolist(), sizes.tolist()) == ([3.0, 1.0], [1.0, 1.0])


def test_the_effective_number_of_clusters_is_known_without_an_interval() -> None:
    assert mean_interval([]).effective_clusters == 0.0
    assert mean_interval([1.0, 2.0], ["a", "a"]).effective_clusters == 1.0
    assert mean_interval([3.0, 3.0, 3.0]).effective_clusters == 3.0


def test_nearly_equal_values_have_an_interval_on_an_unbounded_scale() -> None:
    low, high = mean_interval([-1.0, -1.0, -1.0 + 1e-9]).bounds or (0.0, 0.0)
    assert -1.00001 < low < high < -0.99999


def test_an_interval_has_bounds_only_where_it_has_both_ends() -> None:
    assert MeanInterval(low=0.0, high=None, effective_clusters=2.0).bounds is None
    assert MeanInterval(low=None, high=0.0, effective_clusters=2.0).bounds is None
    assert mean_interval([0.0, 1.0]).reason == ""

"""Intervals of means: against scipy, by hand, and against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hengwen.stats.intervals import cluster_interval


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=29), st.sampled_from([0.8, 0.95, 0.99]))
@settings(deadline=None, max_examples=50)
def test_below_thirty_prompts_the_interval_is_the_textbook_t(values: list[float], confidence: float) -> None:
    names = [str(i) for i in range(len(values))]
    low, high = cluster_interval(values, names, confidence=confidence)  # type: ignore[misc]
    error = stats.sem(values)
    expected = (
        stats.t.interval(confidence, len(values) - 1, loc=np.mean(values), scale=error) if error else None
    )
    if expected is None:
        assert low == pytest.approx(high)
    else:
        assert (low, high) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_from_thirty_prompts_on_it_is_the_bootstrap_by_prompt_and_repeats_itself() -> None:
    values = list(np.random.default_rng(1).normal(size=200))
    names = [str(i) for i in range(200)]
    interval = cluster_interval(values, names, seed=3)
    assert interval == cluster_interval(values, names, seed=3)
    expected = stats.t.interval(0.95, 199, loc=np.mean(values), scale=stats.sem(values))
    assert interval == pytest.approx(expected, abs=0.02)


def test_the_bootstrap_follows_a_skew_that_t_cannot_see() -> None:
    values = list(np.random.default_rng(1).exponential(size=40))
    low, high = cluster_interval(values, [str(i) for i in range(40)])  # type: ignore[misc]
    assert high - np.mean(values) > 1.1 * (np.mean(values) - low)


def test_copies_of_a_prompt_in_one_cluster_do_not_narrow_the_interval() -> None:
    values, names = [1.0, 2.0, 4.0], ["a", "b", "c"]
    once = cluster_interval(values, names)
    copied = cluster_interval(values * 5, names * 5)
    assert copied == pytest.approx(once)


def test_a_constant_score_has_an_interval_of_no_width_however_many_prompts() -> None:
    for count in (5, 50):
        assert cluster_interval([0.1] * count, [str(i) for i in range(count)]) == pytest.approx((0.1, 0.1))


@pytest.mark.parametrize(
    ("values", "clusters", "confidence", "message"),
    [
        ([1.0], [], 0.95, "1 values but 0 clusters"),
        ([1.0], ["a"], 1.0, r"confidence must lie in \(0, 1\), got 1.0"),
    ],
)
def test_wrong_arguments_are_refused(
    values: list[float], clusters: list[str], confidence: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        cluster_interval(values, clusters, confidence=confidence)


@pytest.mark.parametrize("prompts", [10, 40], ids=["t", "bootstrap"])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(prompts: int) -> None:
    rng = np.random.default_rng(7)
    trials, names = 400, [str(i) for i in range(prompts)]
    hits = 0
    for _ in range(trials if prompts < 30 else 100):
        ability = rng.normal(size=prompts)
        low, high = cluster_interval(list(ability), names)  # type: ignore[misc]
        hits += low <= 0 <= high
    share = hits / (trials if prompts < 30 else 100)
    assert 0.88 <= share <= 0.99

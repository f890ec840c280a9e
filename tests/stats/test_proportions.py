"""Intervals of a proportion, with independent and with clustered trials."""

from __future__ import annotations

import re

import numpy as np
import pytest
from rows import each_row
from scipy.special import ndtri
from scipy.stats import binomtest
from scipy.stats import t as student_t

from hengwen.stats.mean_interval import clustered_wilson, wilson


@each_row(("passed", "n"), [(0, 5), (8, 10), (8, 8), (1, 200)])
def test_the_interval_is_that_of_scipy(passed: int, n: int) -> None:
    expected = binomtest(passed, n).proportion_ci(0.95, method="wilson")
    assert wilson(passed, n) == pytest.approx((expected.low, expected.high))


def test_one_trial_a_cluster_is_wilsons_interval() -> None:
    assert clustered_wilson([True] * 7 + [False], list("abcdefgh")) == wilson(7, 8)


def test_trials_of_one_cluster_count_once() -> None:
    low, high = clustered_wilson([True] * 20 + [False] * 20, ["a"] * 20 + ["b"] * 20)
    assert high - low == pytest.approx(np.diff(wilson(1, 2))[0])


@pytest.mark.slow
@each_row("rate", [0.7, 0.8, 0.9, 0.95])
@each_row("icc", [0.0, 0.3, 0.6])
def test_nine_answers_with_five_copies_each_are_covered(rate: float, icc: float) -> None:
    rng = np.random.default_rng(7)
    names = [str(answer) for answer in range(9) for _ in range(5)]
    covered = 0
    for _ in range(400):
        latent = np.sqrt(icc) * rng.normal(size=(9, 1)) + np.sqrt(1 - icc) * rng.normal(size=(9, 5))
        low, high = clustered_wilson((latent < ndtri(rate)).ravel().tolist(), names)
        covered += low <= rate <= high
    assert covered / 400 >= 0.93


def test_invalid_input_raises() -> None:
    with pytest.raises(ValueError, match="2 trials but 1 clusters"):
        clustered_wilson([True, False], ["a"])
    with pytest.raises(ValueError, match="0 trials"):
        clustered_wilson([], [])
    with pytest.raises(ValueError, match="no interval of 3 of 2"):
        wilson(3, 2)


@each_row(
    ("passed", "n", "confidence"),
    [(-1, 2, 0.95), (0, 0, 0.95), (1, 2, 0.0), (1, 2, 1.0), (1, 2, 1.5), (2.5, 2, 0.95)],
)
def test_numbers_out_of_range_are_refused(passed: float, n: float, confidence: float) -> None:
    message = f"no interval of {passed:g} of {n:g} at confidence {confidence:g}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        wilson(passed, n, confidence)


@each_row("confidence", [0.5, 0.8, 0.99])
def test_the_level_is_that_of_the_interval(confidence: float) -> None:
    expected = binomtest(3, 9).proportion_ci(confidence, method="wilson")
    assert wilson(3, 9, confidence) == pytest.approx((expected.low, expected.high))
    one_a_cluster = clustered_wilson([True] * 3 + [False] * 6, list("abcdefghi"), confidence)
    assert one_a_cluster == wilson(3, 9, confidence)


def test_less_than_one_trial_has_an_interval() -> None:
    low, high = wilson(0.25, 0.5)
    assert (low, high) == pytest.approx((1 - high, high))
    assert 0 < low < 0.5 < high < 1


def test_correlated_trials_widen_the_interval_with_the_quantile_of_t() -> None:
    passed, clusters = [True] * 9 + [False] * 3, list("aaabbbcccddd")
    low, high = clustered_wilson(passed, clusters)
    assert (low, high) == wilson(0.75 * 4, 4)  # all trials of a cluster agree: four trials
    mixed = clustered_wilson([True, True, False] * 8, [f"{i // 3}" for i in range(24)])
    t, normal = student_t.ppf(0.975, 7), ndtri(0.975)
    effective = 24 * (normal / t) ** 2
    assert mixed == pytest.approx(wilson(effective * 2 / 3, effective))

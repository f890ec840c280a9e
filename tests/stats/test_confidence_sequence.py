"""Confidence sequences: equal to the integral that defines them, and never wrong too often."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import integrate

from hengwen.stats.confidence_sequence import MIN_ASYMPTOTIC, AsymptoticSequence, BoundedSequence

LEVELS = np.array([0, 0.25, 0.5, 0.75, 1])
SKEW = np.array([0.05, 0.1, 0.2, 0.35, 0.3])
CEIL90 = np.array([0.025, 0.025, 0.025, 0.025, 0.9])


def bounded(mean: float = 0.7, variance: float = 0.08, alpha: float = 0.05) -> BoundedSequence:
    return BoundedSequence(0, 1, alpha=alpha, expected_mean=mean, expected_variance=variance)


def mixture(deviation: float, variance: float, rho: float) -> float:
    """Average exp(t S - V (-log(1 - t) - t)) over t with the density (1 - t)^(rho - 1) exp(-rho (1 - t))."""

    def density(share: float) -> float:
        return share ** (rho - 1) * math.exp(-rho * share)

    def integrand(share: float) -> float:
        bet = 1 - share
        return math.exp(bet * deviation + variance * (math.log(share) + bet)) * density(share)

    return integrate.quad(integrand, 0, 1)[0] / integrate.quad(density, 0, 1)[0]


@pytest.mark.parametrize(("deviation", "variance"), [(0.0, 1.0), (3.0, 4.0), (12.0, 9.5), (5.0, 0.2)])
def test_the_martingale_is_the_integral_over_bets(deviation: float, variance: float) -> None:
    sequence = bounded(variance=0.1)
    sequence._variance = variance
    expected = mixture(deviation, variance, sequence._rho)
    assert sequence._log_martingale(deviation) == pytest.approx(math.log(expected), rel=1e-6, abs=1e-8)


def test_the_bound_is_where_the_martingale_reaches_its_limit() -> None:
    sequence = bounded()
    scores = [0.75, 1.0, 0.25, 0.5] * 50
    for score in scores:
        sequence.update(score)
    low, high = sequence.interval()
    predictions = [(0.7 + sum(scores[:index])) / (index + 1) for index in range(len(scores))]
    variance = sum((score - value) ** 2 for score, value in zip(scores, predictions, strict=True))
    for bound in (low, high):
        deviation = abs(bound - np.mean(scores)) * len(scores)
        assert mixture(deviation, variance, sequence._rho) == pytest.approx(2 / 0.05, rel=1e-6)


def test_a_scale_only_shifts_and_stretches_the_interval() -> None:
    first, second = bounded(), BoundedSequence(1, 5, alpha=0.05, expected_mean=3.8, expected_variance=1.28)
    for score in [0.75, 1.0, 0.25] * 40:
        first.update(score)
        second.update(1 + 4 * score)
    expected = [1 + 4 * bound for bound in first.interval()]
    assert second.interval() == pytest.approx(expected)


def test_a_smaller_alpha_widens_the_interval_and_the_scale_cuts_it() -> None:
    sequence = bounded()
    assert sequence.interval() == (0, 1)
    for _ in range(50):
        sequence.update(1.0)
    low, high = sequence.interval()
    lower, higher = sequence.interval(0.01)
    assert 0 < lower < low < 1 == high == higher


def test_the_asymptotic_interval_is_its_formula() -> None:
    scores = np.random.default_rng(3).normal(5, 2, 250)
    sequence = AsymptoticSequence(alpha=0.05)
    for score in scores.tolist():
        sequence.update(score)
    rho2 = (-2 * math.log(0.05) + math.log(-2 * math.log(0.05) + 1)) / 300
    n = len(scores)
    half = scores.std() * math.sqrt(
        2 * (n * rho2 + 1) / (n**2 * rho2) * math.log(math.sqrt(n * rho2 + 1) / 0.05)
    )
    assert sequence.interval() == pytest.approx((scores.mean() - half, scores.mean() + half))


def test_the_asymptotic_interval_waits_for_a_hundred_scores_that_differ() -> None:
    equal, different = AsymptoticSequence(alpha=0.05), AsymptoticSequence(alpha=0.05)
    for index in range(MIN_ASYMPTOTIC):
        assert different.interval() is None
        equal.update(1.0)
        different.update(float(index % 2))
    assert equal.interval() is None
    assert different.interval() is not None


@pytest.mark.parametrize(
    "make", [bounded, lambda: AsymptoticSequence(alpha=0.05)], ids=["bounded", "asymptotic"]
)
def test_a_sequence_goes_on_after_a_restart(make) -> None:
    first, second = make(), make()
    for index in range(150):
        first.update(index % 3 / 2)
    second.restore(json.loads(json.dumps(first.to_dict())))
    for sequence in (first, second):
        sequence.update(1.0)
    assert first.interval() == second.interval()


def misses(sequence, scores, truth) -> bool:
    """Whether an interval, looked at after every fifth score, ever misses the mean."""
    for index, (score, mean) in enumerate(zip(scores.tolist(), truth.tolist(), strict=True)):
        sequence.update(score)
        if index % 5 == 0:
            bounds = sequence.interval()
            if bounds is not None and not bounds[0] <= mean <= bounds[1]:
                return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("name", ["skew", "ceil90", "skew to ceil90"])
def test_the_bounded_interval_misses_the_mean_in_at_most_5_of_100_streams_at_any_time(name: str) -> None:
    rng, streams, n = np.random.default_rng(5), 200, 1000
    first = CEIL90 if name == "ceil90" else SKEW
    second = SKEW if name == "skew" else CEIL90
    expected = np.repeat([LEVELS @ first, LEVELS @ second], n // 2)
    truth = expected.cumsum() / np.arange(1, n + 1)
    missed = 0
    for _ in range(streams):
        halves = [rng.choice(LEVELS, n // 2, p=shares) for shares in (first, second)]
        missed += misses(bounded(0.5), np.concatenate(halves), truth)
    assert missed / streams <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("name", "limit"), [("normal", 0.05), ("exponential", 0.06), ("ceil90", 0.085)])
def test_the_asymptotic_interval_is_near_its_level_from_a_hundred_scores(name: str, limit: float) -> None:
    rng, streams, n = np.random.default_rng(6), 1000, 1000
    mean = {"normal": 0.0, "exponential": 1.0, "ceil90": float(LEVELS @ CEIL90)}[name]
    missed = 0
    for _ in range(streams):
        draws = {
            "normal": lambda: rng.normal(size=n),
            "exponential": lambda: rng.exponential(size=n),
            "ceil90": lambda: rng.choice(LEVELS, n, p=CEIL90),
        }
        missed += misses(AsymptoticSequence(alpha=0.05), draws[name](), np.full(n, mean))
    assert missed / streams <= limit

"""Thresholds of a CUSUM chart: what the simulation is, and what it depends on."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from rows import each_row

from hengwen.stats.cusum_thresholds import BaselineDistribution, cusum_thresholds

LEVELS = np.array([0, 0.25, 0.5, 0.75, 1])
SCORES = np.repeat(LEVELS, [5, 10, 20, 35, 30])


def distribution(scores=SCORES, ends=(0.0, 1.0)) -> BaselineDistribution:
    return BaselineDistribution(scores=scores, ends=ends)


def thresholds(**changes) -> tuple[float, float]:
    options = {"reference_value": 0.25, "horizon": 200, "level": 0.025, "seed": 0, "simulations": 4000}
    return cusum_thresholds(changes.pop("baseline", distribution()), **{**options, **changes})


def slow_thresholds(scores: list[float], ends: tuple[float, float], streams: int) -> tuple[float, float]:
    """Simulate stream by stream and score by score, with random numbers of another generator."""
    rng = random.Random(1)
    population = [*scores, *ends]
    weights = [1.0] * len(scores) + [0.5, 0.5]
    total = sum(weights)
    mean = sum(w * x for w, x in zip(weights, population, strict=True)) / total
    sd = math.sqrt(sum(w * (x - mean) ** 2 for w, x in zip(weights, population, strict=True)) / (total - 1))
    maxima: tuple[list[float], list[float]] = ([], [])
    for _ in range(streams):
        redrawn = rng.choices(population, weights, k=len(scores) + 1)
        up = down = most_up = most_down = 0.0
        for score in rng.choices(redrawn, k=200):
            z = (score - mean) / sd
            up, down = max(0.0, up + z - 0.25), max(0.0, down - z - 0.25)
            most_up, most_down = max(most_up, up), max(most_down, down)
        maxima[0].append(most_up)
        maxima[1].append(most_down)
    rank = math.ceil(0.975 * (streams + 1)) - 1
    return sorted(maxima[0])[rank], sorted(maxima[1])[rank]


@pytest.mark.slow
def test_the_thresholds_are_those_of_a_slow_simulation() -> None:
    expected = slow_thresholds(SCORES.tolist(), (0.0, 1.0), 4000)
    assert thresholds() == pytest.approx(expected, rel=0.04)


def test_mean_and_deviation_count_half_a_score_at_each_end() -> None:
    values, weights = np.append(SCORES, [0, 1]), np.append(np.ones(100), [0.5, 0.5])
    mean = np.average(values, weights=weights)
    assert distribution().mean == pytest.approx(mean)
    variance = np.average((values - mean) ** 2, weights=weights) * 101 / 100
    assert distribution().sd == pytest.approx(math.sqrt(variance))


def test_equal_scores_on_a_scale_have_a_deviation() -> None:
    equal = np.ones(100)
    assert distribution(equal).sd == pytest.approx(
        math.sqrt((100 * (0.5 / 101) ** 2 + (100.5 / 101) ** 2 / 2 + (0.5 / 101) ** 2 / 2) / 100)
    )
    assert distribution(equal, (1.0, 1.0)).sd == 0


@each_row("factor", [1e-200, 1e200])
def test_very_small_and_very_large_scores_have_the_same_thresholds(factor: float) -> None:
    scaled = distribution(SCORES * factor, (0.0, factor))
    assert thresholds(baseline=scaled, simulations=500) == pytest.approx(thresholds(simulations=500))


def test_the_seed_fixes_the_thresholds_and_another_changes_them_little() -> None:
    assert thresholds() == thresholds()
    first, second = thresholds(simulations=10_000), thresholds(simulations=10_000, seed=1)
    assert first != second
    assert first == pytest.approx(second, rel=0.06)


def test_thresholds_do_not_depend_on_how_many_streams_are_simulated_at_a_time(monkeypatch) -> None:
    expected = thresholds()
    monkeypatch.setattr("hengwen.stats.cusum_thresholds._CHUNK_CELLS", 101 * 300)
    assert thresholds() == pytest.approx(expected, rel=0.06)


@pytest.mark.slow
def test_a_longer_horizon_a_smaller_level_and_a_smaller_baseline_raise_the_thresholds() -> None:
    usual = thresholds()
    assert all(np.greater(thresholds(horizon=600), usual))
    assert all(np.greater(thresholds(level=0.005), usual))
    assert all(np.less(thresholds(baseline=distribution(np.tile(SCORES, 20))), usual))
    assert all(np.less(thresholds(reference_value=0.5), usual))


def test_mirrored_scores_swap_the_thresholds() -> None:
    up, down = thresholds(simulations=10_000)
    mirrored = thresholds(baseline=distribution(1 - SCORES), simulations=10_000)
    assert mirrored == pytest.approx((down, up), rel=0.05)


def test_a_baseline_beyond_the_largest_redrawn_size_is_redrawn_at_that_size(monkeypatch) -> None:
    monkeypatch.setattr("hengwen.stats.cusum_thresholds.MAX_REDRAWN", 100)
    large = distribution(np.tile(SCORES, 3))
    assert thresholds(baseline=large) == pytest.approx(thresholds(), rel=0.06)

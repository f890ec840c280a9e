"""Simulated false alarms and power of a monitor, with fixed seeds.

River's detectors with their default settings, on the same distribution (60 streams): false alarms of
Page-Hinkley 0/0/.53 and KSWIN 0/.03/.18 within 50/200/1000 scores, of ADWIN none. ADWIN, Page-Hinkley and
KSWIN detect a step in the middle of 200 scores in .08, .48 and .35 of streams, in the middle of 50 in none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from rows import each_row
from scipy.special import ndtr

from hengwen import Monitor
from hengwen.stats.cusum_thresholds import cusum_thresholds

pytestmark = pytest.mark.slow

LEVELS = np.array([0, 0.25, 0.5, 0.75, 1])
SHARES = {
    "skew": np.array([0.05, 0.1, 0.2, 0.35, 0.3]),
    "ceil90": np.array([0.025, 0.025, 0.025, 0.025, 0.9]),
    "top97": np.array([0.0075, 0.0075, 0.0075, 0.0075, 0.97]),
}
WORSE = np.array([0.12, 0.2, 0.25, 0.28, 0.15])
STREAMS = 50
"""Streams for each baseline."""

Draw = Callable[[np.random.Generator, tuple[int, ...]], NDArray[np.float64]]


def levels(shares: NDArray[np.float64]) -> Draw:
    return lambda rng, shape: rng.choice(LEVELS, shape, p=shares)


def correlated(correlation: float) -> Draw:
    """Return levels cut from an AR(1) process along the first axis."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        latent, rows = rng.standard_normal(shape[1:]), []
        for noise in rng.standard_normal(shape):
            latent = correlation * latent + np.sqrt(1 - correlation**2) * noise
            rows.append(LEVELS[np.searchsorted(np.cumsum(SHARES["skew"])[:-1], ndtr(latent))])
        return np.array(rows)

    return draw


def draw_of(name: str) -> tuple[Draw, tuple[float, float] | None]:
    """Return how scores are drawn, and their scale."""
    if name in SHARES:
        return levels(SHARES[name]), (0.0, 1.0)
    if name.startswith("AR"):
        return correlated(float(name[2:])), (0.0, 1.0)
    if name == "beta":
        return lambda rng, shape: rng.beta(5, 2, shape), (0.0, 1.0)
    if name == "normal":
        return lambda rng, shape: rng.normal(size=shape), None
    return lambda rng, shape: rng.exponential(size=shape), None


@pytest.fixture(autouse=True)
def few_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate 500 streams for each threshold, which makes it less exact but right on average."""
    fewer = partial(cusum_thresholds, simulations=500)
    monkeypatch.setattr("hengwen.monitoring.monitor.cusum_thresholds", fewer)


def largest_sums(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest statistic upwards and downwards of each stream; a row of scores for each time."""
    sums = peaks = np.zeros((2, *scores.shape[1:]))
    for row in scores:
        sums = np.maximum(sums + np.stack((row, -row)) - 0.25, 0)
        peaks = np.maximum(peaks, sums)
    return peaks


def rate(
    name: str, horizon: int, *, baselines: int, change: str = "none", seed: int = 17, **options
) -> float:
    """Return the share of streams with an alarm, over many baselines of 100 scores."""
    rng, (draw, scale) = np.random.default_rng(seed), draw_of(name)
    standardized, thresholds = [], []
    for _ in range(baselines):
        monitor = Monitor(draw(rng, (100,)), horizon=horizon, scale=scale, **options)
        scores = draw(rng, (horizon, STREAMS))
        if change != "none":
            worse = rng.choice(LEVELS, scores.shape, p=WORSE)
            time = np.arange(horizon)[:, None] / horizon
            share = time >= 0.5 if change == "step" else time
            scores = np.where(rng.random(scores.shape) < share, worse, scores)
        baseline, state = monitor.to_dict()["baseline"], monitor.state
        standardized.append((scores - baseline["chart_mean"]) / baseline["chart_sd"])
        thresholds.append([state.up_threshold or np.inf, state.down_threshold or np.inf])
    limits = np.transpose(thresholds)[:, :, None] * (1 + 1e-9)
    return float((largest_sums(np.stack(standardized, axis=1)) > limits).any(axis=0).mean())


@each_row("horizon", [200, 1000])
@each_row("name", ["skew", "ceil90", "top97", "beta", "normal", "exponential"])
def test_false_alarms_from_a_hundred_scores_are_at_most_7_of_100(name: str, horizon: int) -> None:
    assert rate(name, horizon, baselines=80) <= 0.07, "at most .055 of 4,000 streams over 80 baselines"


@each_row(("correlation", "highest"), [(0.3, 0.15), (0.6, 0.15)])
def test_neighbours_that_correlate_in_the_baseline_raise_few_false_alarms(
    correlation: float, highest: float
) -> None:
    assert rate(f"AR{correlation}", 200, baselines=30) <= highest


def test_false_alarms_in_one_direction_have_the_same_rate() -> None:
    assert 0.02 <= rate("skew", 200, baselines=80, direction="down") <= 0.07


@each_row(
    ("change", "horizon", "power"),
    [
        ("step", 50, 0.33),
        ("step", 200, 0.8),
        ("trend", 200, 0.55),
        ("step", 1000, 0.97),
        ("trend", 1000, 0.8),
    ],
)
def test_a_step_in_the_middle_and_a_trend_are_detected(change: str, horizon: int, power: float) -> None:
    assert rate("skew", horizon, baselines=60, change=change) >= power

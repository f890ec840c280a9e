"""Simulated coverage of the interval of a mean at 95 %, with fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from rows import each_row
from scipy.special import ndtr

from hengwen.stats.mean_interval import mean_interval

pytestmark = pytest.mark.slow

UNIT = (0.0, 1.0)
LEVELS = np.array([0, 0.25, 0.5, 0.75, 1])
SHARES = {
    "skew": np.array([0.05, 0.1, 0.2, 0.35, 0.3]),
    "ceil90": np.array([0.025, 0.025, 0.025, 0.025, 0.9]),
    "top97": np.array([0.0075, 0.0075, 0.0075, 0.0075, 0.97]),
    "pass95": np.array([0.05, 0, 0, 0, 0.95]),
}
SAMPLES = 1500


def coverage(draw, truth: float) -> float:
    hits = 0
    for _ in range(SAMPLES):
        values, clusters = draw()
        bounds = mean_interval(values, clusters, scale=UNIT).bounds
        assert bounds is not None
        hits += bounds[0] <= truth <= bounds[1]
    return hits / SAMPLES


@each_row("prompts", [5, 6, 10, 20, 29, 30, 50, 100, 500])
@each_row("name", SHARES)
def test_the_interval_covers_the_truth_in_at_least_93_of_100_samples(name: str, prompts: int) -> None:
    rng, shares = np.random.default_rng(prompts), SHARES[name]
    truth = float(LEVELS @ shares)
    assert coverage(lambda: (rng.choice(LEVELS, prompts, p=shares), None), truth) >= 0.93


@each_row("correlation", [0.3, 0.6])
@each_row(
    "sizes",
    [[1] * 28 + [20] * 2, [5] * 10, [3] * 30, [1, 2, 3, 4, 5] * 4],
    ids=["28 of one and two of 20", "ten of five", "thirty of three", "unequal"],
)
def test_clusters_of_unequal_size_are_covered_too(sizes: list[int], correlation: float) -> None:
    rng, shares = np.random.default_rng(7), SHARES["skew"]
    clusters = [str(index) for index, size in enumerate(sizes) for _ in range(size)]
    edges = np.cumsum(shares)[:-1]

    def draw() -> tuple[NDArray[np.float64], list[str]]:
        common = np.repeat(rng.normal(size=len(sizes)), sizes)
        latent = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(size=len(clusters))
        return LEVELS[np.searchsorted(edges, ndtr(latent))], clusters

    assert coverage(draw, float(LEVELS @ shares)) >= 0.93

"""Comparisons of runs whose scores do not differ: how often a test rejects.

The slow tests assert these figures, and ``benchmarks/bench_monitoring.py`` prints them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from quick_tests import quick_tests
from score_pairs import UNIT, pair

from hengwen.monitoring.run_comparison import ScoreComparison, ScorePair, Weights, compare_scores
from hengwen.results.comparisons import ALPHA
from hengwen.results.paired_values import pair_values
from hengwen.results.score_table import Column


def compare(*pairs: ScorePair, weights: Weights = "equal") -> tuple[ScoreComparison, ...]:
    return compare_scores(pairs, weights=weights)


LEVELS = np.array([0, 0.25, 0.5, 0.75, 1])
SHARES = {"skew": [0.05, 0.1, 0.2, 0.35, 0.3], "ceiling": [0.025] * 4 + [0.9]}
CLUSTER_SIZES = {
    "20 of 1, 2 of 8": [1] * 20 + [8] * 2,
    "8 of 4": [4] * 8,
    "3 each of 1 to 5": [1, 2, 3, 4, 5] * 3,
}


def is_alarm(*pairs: ScorePair) -> bool:
    """Return whether the test of any score rejects; a verdict also needs its interval to exclude 0."""
    with quick_tests():
        return any(score.p_adjusted is not None and score.p_adjusted <= ALPHA for score in compare(*pairs))


def alarms_of_scores(shares: str, count: int, prompts: int, samples: int) -> float:
    """Return the share of comparisons of several headline scores, 3 repeats a prompt, that reject."""
    rng, alarms = np.random.default_rng(100 * count + prompts), 0
    for _ in range(samples):
        before, after = rng.choice(LEVELS, (2, count, prompts, 3), p=SHARES[shares]).mean(axis=3)
        alarms += is_alarm(*(pair(*values) for values in zip(before, after, strict=True)))
    return alarms / samples


def alarms_of_clusters(sizes: Sequence[int], samples: int) -> float:
    """Return the same of one score whose prompts move together in clusters of these sizes."""
    rng, alarms = np.random.default_rng(len(sizes)), 0
    clusters = tuple(str(index) for index, size in enumerate(sizes) for _ in range(size))
    for _ in range(samples):
        shifts = np.repeat(rng.normal(0, 0.2, (2, len(sizes))), sizes, axis=1)
        before, after = np.clip(0.5 + shifts + rng.normal(0, 0.1, (2, len(clusters))), 0, 1)
        alarms += is_alarm(pair(before, after, clusters=clusters))
    return alarms / samples


def alarms_of_unequal_repeats(prompts: int, samples: int) -> float:
    """Return the same of one score near its ceiling, with one answer a prompt before and five after."""
    rng, alarms = np.random.default_rng(prompts), 0
    for _ in range(samples):
        before, after = (rng.choice(LEVELS, (prompts, repeats), p=SHARES["ceiling"]) for repeats in (1, 5))
        values = pair_values(column(before), column(after))
        assert values.subsampled == prompts
        alarms += is_alarm(ScorePair(address="t/s", family="headline", scale=UNIT, values=values))
    return alarms / samples


def column(values: np.ndarray) -> Column:
    """Return a column of values by prompt and repeat."""
    prompts, repeats = values.shape
    names = [f"p{index}" for index in range(prompts) for _ in range(repeats)]
    numbers = list(range(1, repeats + 1)) * prompts
    return Column.of(values.ravel().tolist(), sample_ids=names, repeats=numbers)

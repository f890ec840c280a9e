"""The second question of a drift report: is a difference more than checkpoints usually move?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.monitoring.drift.score_drift import MIN_MANN_KENDALL, MannKendall
from hengwen.relevance_metrics.order.inversions import tied_pairs
from hengwen.relevance_metrics.order.tau import tau_b
from hengwen.relevance_metrics.summaries.trajectory import trajectory_of_means
from hengwen.results.comparisons import ALPHA
from hengwen.stats.checkpoints.trend import MIN_CHECKPOINTS, newest_test, slope_test

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hengwen.relevance_metrics.summaries.trajectory import Trajectory

    Floats = NDArray[np.float64]

MIN_COURSE = 3
"""Minimum number of checkpoints for metrics of the order of their means; two means can only rise or fall."""
ORDERS = 9999
MAX_EXACT = 170
"""Maximum number of checkpoints for which the Mann-Kendall test counts all orders; this takes up to 10 ms."""


def is_constant(means: ArrayLike) -> bool:
    """Return whether all means are equal, up to rounding."""
    return bool(np.ptp(means) <= 1e-9 * (float(np.abs(means).max()) or 1.0))


def baseline_members(means: Floats, mean_variance: float | None) -> list[int]:
    """Return the positions of the checkpoints whose average is the baseline."""
    sizes = range(len(means) - 1, MIN_CHECKPOINTS - 1, -1)
    members = next((size for size in sizes if _passes(means[:size], mean_variance)), 1)
    return list(range(members))


def _passes(means: Floats, mean_variance: float | None) -> bool:
    if is_constant(means):
        return True
    tests = (slope_test(means), newest_test(means, min_variance=mean_variance or 0.0))
    return all(test is not None and test.p > ALPHA for test in tests)


def course_of(means: Floats) -> Trajectory:
    """Return the metrics of the order of the means, with tests."""
    return trajectory_of_means(means, n_perm=ORDERS)


def mann_kendall(means: Floats, course: Trajectory) -> MannKendall | None:
    """Return the Mann-Kendall test; None below 5 checkpoints."""
    inversions = course.metrics["cin"]
    if course.n < MIN_MANN_KENDALL or inversions.p is None:
        return None
    tied = tied_pairs(means)
    s = course.n * (course.n - 1) // 2 - tied - 2 * int(inversions.value)
    p = inversions.p
    if not tied and course.n <= MAX_EXACT:
        from scipy.stats import kendalltau

        p = float(kendalltau(np.arange(course.n), means, method="exact").pvalue)
    return MannKendall(s=s, tau_b=tau_b(means), p=p)

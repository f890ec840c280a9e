"""The second question of a drift report: is a difference more than checkpoints usually move?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.monitoring.drift.score_drift import MIN_MANN_KENDALL, Course, MannKendall
from hengwen.relevance_metrics import significance, summarize
from hengwen.results.comparisons import ALPHA
from hengwen.stats.checkpoints.trend import MIN_CHECKPOINTS, newest_test, slope_test

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hengwen.relevance_metrics import SequenceSummary

    Floats = NDArray[np.float64]

MIN_COURSE = 3
"""Minimum number of checkpoints for metrics of the order of their means; two means can only rise or fall."""
MIN_BLOCKED = 25
"""Minimum number of checkpoints for random orders that keep neighbours together in blocks: 25 checkpoints are
five blocks, which have 120 orders."""
ORDERS = 9999
MAX_EXACT = 170
"""Maximum number of checkpoints for which the Mann-Kendall test counts all orders; this takes up to 10 ms."""


def is_constant(means: ArrayLike) -> bool:
    """Return whether all means are equal, up to rounding."""
    return bool(np.ptp(means) <= 1e-9 * (float(np.abs(means).max()) or 1.0))


def baseline_members(means: Floats, mean_variance: float | None) -> list[int]:
    """Return the positions of the checkpoints whose average is the baseline.

    The baseline is the longest sequence of checkpoints from the first on that shows no drift: neither the
    test of the slope nor that of the newest mean is significant at 5 % (not corrected). Fewer than 4
    checkpoints cannot be tested for drift; then the baseline is the first checkpoint alone. The newest
    checkpoint never belongs to the baseline.

    Args:
        means: Mean of each checkpoint, in training order.
        mean_variance: Squared standard error of a checkpoint's mean, without the variance between prompts;
            None if unknown.

    Examples:
        >>> baseline_members(np.array([0.5, 0.52, 0.49, 0.51, 0.5, 0.9]), 0.0)
        [0, 1, 2, 3, 4]
        >>> baseline_members(np.array([0.1, 0.21, 0.3, 0.4, 0.5, 0.6]), 0.0)
        [0]
    """
    sizes = range(len(means) - 1, MIN_CHECKPOINTS - 1, -1)
    members = next((size for size in sizes if _passes(means[:size], mean_variance)), 1)
    return list(range(members))


def _passes(means: Floats, mean_variance: float | None) -> bool:
    if is_constant(means):
        return True
    tests = (slope_test(means), newest_test(means, min_variance=mean_variance or 0.0))
    return all(test is not None and test.p > ALPHA for test in tests)


def course_of(means: Floats) -> Course:
    """Return permutation entropy, inversions and longest increasing subsequence (PEN, CIN, LIS) of the means.

    Args:
        means: Mean of each checkpoint, in training order, at least 2.

    Examples:
        >>> course = course_of(np.array([1.0, 2.0, 3.0, 4.0]))
        >>> course.summary.cin.value, round(course.summary.cin.p, 3), course.block
        (0.0, 0.083, 0)
    """
    n = len(means)
    summary = summarize(means, n_perm=ORDERS, seed=0)
    if n < MIN_BLOCKED:
        return Course(summary=summary, block_p={}, block=0)
    block = round(n**0.5)
    p_values = {
        metric: significance(means, metric, n_perm=ORDERS, null="block", block=block, seed=0).p
        for metric in ("pen", "cin", "lis")
    }
    return Course(summary=summary, block_p=p_values, block=block)


def mann_kendall(means: Floats, summary: SequenceSummary) -> MannKendall | None:
    """Return the Mann-Kendall test; None below 5 checkpoints.

    Args:
        means: Mean of each checkpoint, in training order.
        summary: Summary of the means, which contains the number of inversions. The statistic S is the number
            of pairs of different means minus twice the number of inversions.

    Returns:
        The test. If all means differ, its p-value is exact (``scipy.stats.kendalltau`` counts all orders). If
        some means are equal, or above 170 checkpoints, the test has the p-value that ``summary`` contains for
        the number of inversions.

    Examples:
        >>> means = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
        >>> test = mann_kendall(means, course_of(means).summary)
        >>> test.s, round(test.p, 4)
        (10, 0.0167)
    """
    if summary.n < MIN_MANN_KENDALL or summary.cin.p is None:
        return None
    tied = round(summary.tied_share * summary.pairs)
    s = summary.pairs - tied - 2 * int(summary.cin.value)
    p = summary.cin.p
    if not tied and summary.n <= MAX_EXACT:
        from scipy.stats import kendalltau

        p = float(kendalltau(np.arange(summary.n), means, method="exact").pvalue)
    return MannKendall(s=s, tau_b=summary.tau_b, p=p)

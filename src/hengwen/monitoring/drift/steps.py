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
    """Return the positions of the checkpoints whose average is the baseline."""
    sizes = range(len(means) - 1, MIN_CHECKPOINTS - 1, -1)
    members = next((size for size in sizes if _passes(means[:size], mean_variance)), 1)
    return list(range(members))


def _passes(means: Floats, mean_variance: float | None) -> bool:
    if is_constant(means):
        return True
    tests = (slope_test(means), newest_test(means, min_variance=mean_variance or 0.0))
    return all(test is not None and test.p > ALPHA for test in tests)


def course_of(means: Floats) -> Course:
    """Return permutation entropy, inversions and longest increasing subsequence of the means."""
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
    """Return the Mann-Kendall test; None below 5 checkpoints."""
    if summary.n < MIN_MANN_KENDALL or summary.cin.p is None:
        return None
    tied = round(summary.tied_share * summary.pairs)
    s = summary.pairs - tied - 2 * int(summary.cin.value)
    p = summary.cin.p
    if not tied and summary.n <= MAX_EXACT:
        from scipy.stats import kendalltau

        p = float(kendalltau(np.arange(summary.n), means, method="exact").pvalue)
    return MannKendall(s=s, tau_b=summary.tau_b, p=p)

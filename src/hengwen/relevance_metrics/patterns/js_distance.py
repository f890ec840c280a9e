"""Measure how much two sequences differ in their ordinal patterns (orders of the scores in a window)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from hengwen.relevance_metrics.patterns.counts import pattern_counts
from hengwen.relevance_metrics.patterns.entropy import log_of_base

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hengwen.relevance_metrics.patterns.ties import NanPolicy, Ties


def pattern_js_distance(
    a: ArrayLike,
    b: ArrayLike,
    m: int = 3,
    delay: int = 1,
    *,
    base: float | Literal["e"] = 2,
    ties: Ties = "stable",
    nan: NanPolicy = "raise",
) -> float:
    """Return the Jensen-Shannon distance between the shares of the ordinal patterns in two sequences.

    Args:
        a: At least (m - 1) * delay + 1 scores of one sequence, in order.
        b: Scores of the other sequence in order; the lengths may differ.
        m: Number of scores in a window, at least 2.
        delay: Distance in positions between consecutive scores of a window; 1 means adjacent scores.
        base: Base of the logarithm; with ``2`` the distance is from 0 to 1.
        ties: Policy for equal scores (ties): any value that `permutation_entropy` accepts.
        nan: Policy for NaN: ``raise`` an error, ``omit-window`` (skip windows with NaN), or ``omit`` (remove
            NaN first).

    Returns:
        The square root of the Jensen-Shannon divergence: 0 if all patterns have equal shares in both
        sequences, 1 (with base 2) if the sequences have no common pattern. Short sequences hardly ever reach
        0, so compare the distance with the distance between two random orders.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are too few scores for m and delay, a score is NaN, or an option is unknown.

    Notes:
        Lin (1991), IEEE Trans. Inf. Theory 37; Zunino et al. (2022), Chaos Solitons Fractals 158.

    Examples:
        >>> pattern_js_distance([1, 2, 3, 4], [4, 3, 2, 1])
        1.0
        >>> pattern_js_distance([1, 2, 3, 4], [10, 20, 30])
        0.0
    """
    from scipy.special import rel_entr

    unit = log_of_base(base)
    counts_a = pattern_counts(a, m, delay, ties=ties, nan=nan)
    counts_b = pattern_counts(b, m, delay, ties=ties, nan=nan)
    patterns = sorted({*counts_a, *counts_b})
    p, q = (_shares(counts, patterns) for counts in (counts_a, counts_b))
    mixture = (p + q) / 2
    divergence = math.fsum(rel_entr(p, mixture)) + math.fsum(rel_entr(q, mixture))
    return math.sqrt(max(divergence, 0.0) / 2 / unit)


def _shares(counts: dict[tuple[int, ...], float], patterns: list[tuple[int, ...]]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = np.array([counts.get(pattern, 0) for pattern in patterns], np.float64)
    shares /= shares.sum()
    return shares

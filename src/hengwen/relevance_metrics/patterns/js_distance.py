"""How far apart the pattern distributions of two sequences are."""

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
    """Return the Jensen-Shannon distance between the ordinal patterns of two sequences.

    Args:
        a: Scores in order, of one checkpoint.
        b: Scores in order, of another; lengths may differ.
        m: Scores in a window, at least 2.
        delay: Steps between the scores of a window.
        base: Of the logarithm; with 2 the distance runs from 0 to 1.
        ties: As in `permutation_entropy`.
        nan: ``raise``, ``omit-window`` or ``omit``.

    Returns:
        The square root of the divergence: 0 for equal shares of patterns, 1 (base 2) if none is shared.
        Short sequences are never at 0: compare with the distance between two random orders.

    Raises:
        ValueError: Too few scores for m and delay, NaN, or an unknown option.

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
    first = pattern_counts(a, m, delay, ties=ties, nan=nan)
    second = pattern_counts(b, m, delay, ties=ties, nan=nan)
    patterns = sorted({*first, *second})
    left, right = (_shares(counts, patterns) for counts in (first, second))
    middle = (left + right) / 2
    divergence = math.fsum(rel_entr(left, middle)) + math.fsum(rel_entr(right, middle))
    return math.sqrt(max(divergence, 0.0) / 2 / unit)


def _shares(counts: dict[tuple[int, ...], float], patterns: list[tuple[int, ...]]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.array([counts.get(pattern, 0) for pattern in patterns], np.float64)
    found /= found.sum()
    return found

"""Count the ordinal patterns (orders of three scores) of all triples, without listing the triples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.relevance_metrics.core.inputs import as_sequence
from hengwen.relevance_metrics.core.pattern_codes import entropy_of
from hengwen.relevance_metrics.order.inversions import count_pairs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def triple_counts(x: ArrayLike) -> dict[tuple[int, int, int], int]:
    """Count the ordinal patterns of all triples i < j < k, not only of neighbouring scores.

    Args:
        x: One sequence of scores in order, n >= 0. A tie is read as a rise.

    Returns:
        Count of each of the six patterns (a pattern is the stable argsort of a triple). The counts add up to
        n(n-1)(n-2)/6.

    Raises:
        TypeError: A score is not a number.
        ValueError: A score is NaN.

    Notes:
        The time is O(n^2), because the counts follow from the numbers of greater and lesser scores on both
        sides of each score. PiCO's code draws random triples with replacement instead. For the same
        ranking, the entropy of random triples changes from draw to draw, often by more than the
        difference between two rows of PiCO's tables.

    Examples:
        >>> list(triple_counts([1, 2, 3, 4]).values())
        [4, 0, 0, 0, 0, 0]
        >>> triple_counts([2, 3, 1])[(2, 0, 1)]
        1
    """
    row = as_sequence(x)
    order = np.argsort(row, kind="stable")
    ranks = np.empty(len(row), np.intp)
    ranks[order] = np.arange(len(row))
    pairs = count_pairs(ranks)
    rise = _dot(pairs.less_before, pairs.greater_after)
    fall = _dot(pairs.greater_before, pairs.less_after)
    first_lowest = _pairs(pairs.greater_after) - rise
    first_highest = _pairs(pairs.less_after) - fall
    middle_lowest = _dot(pairs.greater_before, pairs.greater_after) - first_highest
    middle_highest = _dot(pairs.less_before, pairs.less_after) - first_lowest
    return {
        (0, 1, 2): rise,
        (0, 2, 1): first_lowest,
        (1, 0, 2): middle_lowest,
        (1, 2, 0): first_highest,
        (2, 0, 1): middle_highest,
        (2, 1, 0): fall,
    }


def triple_entropy(x: ArrayLike) -> float:
    """Return the entropy, in nats, of the patterns of all triples: from 0 to log 6.

    The entropy is 0 for a sequence that always rises and also for a sequence that always falls. A sequence
    and its reverse have the same entropy.

    Args:
        x: One sequence of at least three scores in order. A tie is read as a rise.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are fewer than three scores, or a score is NaN.

    Examples:
        >>> triple_entropy([1, 2, 3, 4]), triple_entropy([4, 3, 2, 1])
        (0.0, 0.0)
    """
    counts = np.array(list(triple_counts(x).values()))
    if not counts.any():
        raise ValueError("fewer than 3 scores have no triple; add scores")
    return entropy_of(counts[counts > 0])


def _dot(a: NDArray[np.int64], b: NDArray[np.int64]) -> int:
    return int((a * b).sum())


def _pairs(counts: NDArray[np.int64]) -> int:
    return int((counts * (counts - 1) // 2).sum())

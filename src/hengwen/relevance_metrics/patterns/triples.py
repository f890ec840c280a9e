"""The ordinal patterns of all triples of a sequence, exact and without listing the triples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.relevance_metrics.core.batch_entropy import entropy_of
from hengwen.relevance_metrics.core.inputs import as_sequence
from hengwen.relevance_metrics.core.pair_counts import count_sides

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def triple_counts(x: ArrayLike) -> dict[tuple[int, int, int], int]:
    """Count the ordinal patterns of all triples i < j < k, not only of neighbours.

    Args:
        x: Scores in order. A tie is a rise.

    Returns:
        Pattern (stable argsort) to count, for all six; the sum is n(n-1)(n-2)/6.

    Raises:
        ValueError: NaN or no numbers.

    Notes:
        O(n^2): from the counts of greater and lesser scores on both sides of each score. Published code draws
        triples with replacement instead, and its spread exceeds the gaps it is used to show.

    Examples:
        >>> [count for count in triple_counts([1, 2, 3, 4]).values()]
        [4, 0, 0, 0, 0, 0]
        >>> triple_counts([2, 3, 1])[(2, 0, 1)]
        1
    """
    row = as_sequence(x)
    order = np.argsort(row, kind="stable")
    ranks = np.empty(len(row), np.intp)
    ranks[order] = np.arange(len(row))
    sides = count_sides(ranks)
    rise = _dot(sides.less_before, sides.greater_after)
    fall = _dot(sides.greater_before, sides.less_after)
    first_least = _pairs(sides.greater_after) - rise
    first_greatest = _pairs(sides.less_after) - fall
    middle_least = _dot(sides.greater_before, sides.greater_after) - first_greatest
    middle_greatest = _dot(sides.less_before, sides.less_after) - first_least
    return {
        (0, 1, 2): rise,
        (0, 2, 1): first_least,
        (1, 0, 2): middle_least,
        (1, 2, 0): first_greatest,
        (2, 0, 1): middle_greatest,
        (2, 1, 0): fall,
    }


def triple_entropy(x: ArrayLike) -> float:
    """Return the entropy, in nats, of the patterns of all triples: from 0 to log 6.

    It is 0 for a sequence that always rises and for one that always falls, and the same for a sequence and
    its reverse.

    Raises:
        ValueError: Fewer than three scores, NaN or no numbers.

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

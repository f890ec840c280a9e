"""Overlap of two rankings at the top, in expectation over random tie breaks."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen._internal.checks import whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray


def top_shares(scores: NDArray[Any], depth: int) -> NDArray[np.float64]:
    """Return the probability that each item is among the top ``depth`` if ties are broken at random.

    Examples:
        >>> top_shares(np.array([9, 5, 5, 1]), 2).tolist()
        [1.0, 0.5, 0.5, 0.0]
    """
    above = (scores > scores[:, None]).sum(axis=1)
    equal = (scores == scores[:, None]).sum(axis=1)
    return np.asarray(np.clip((depth - above) / equal, 0.0, 1.0))


def top_overlap(a: NDArray[Any], b: NDArray[Any], depth: int) -> float:
    """Return the expected share of the top ``depth`` items that two rankings have in common.

    Args:
        a: Scores of the items, higher is better.
        b: Scores of the same items in the same order.
        depth: Number of top items, from 1 to the number of items.

    Raises:
        ValueError: The depth is outside that range.

    Examples:
        >>> top_overlap(np.array([3, 2, 1]), np.array([3, 1, 2]), 2)
        0.5
    """
    if whole_number("depth", depth) > len(a):
        raise ValueError(f"depth must be at most the {len(a)} items, got {depth}; lower it")
    return float(top_shares(a, depth) @ top_shares(b, depth)) / depth


def rank_biased_overlap(a: NDArray[Any], b: NDArray[Any], persistence: float = 0.9) -> float:
    """Return the extrapolated rank-biased overlap of two rankings of the same items.

    Args:
        a: Scores of the items, higher is better.
        b: Scores of the same items in the same order.
        persistence: Parameter p between 0 and 1, the probability that a reader continues to the next rank.

    Returns:
        A number from 0 to 1; the top ranks weigh most. It is the expectation over random tie breaks (RBO-a),
        so a ranking with ties has less than 1 with itself.

    Raises:
        ValueError: p is outside (0, 1), or there are no items.

    Notes:
        Webber, Moffat and Zobel (2010), ACM TOIS 28, 20, equation 32; Corsi and Urbano (2024) for ties.

    Examples:
        >>> rank_biased_overlap(np.array([3, 2, 1]), np.array([3, 2, 1]))
        1.0
        >>> rank_biased_overlap(np.array([3, 2]), np.array([2, 3]), 0.5)
        0.5
    """
    if not 0 < persistence < 1:
        raise ValueError(f"persistence must be between 0 and 1, got {persistence!r}")
    if not len(a):
        raise ValueError("there are no items to compare; pass at least one")
    depths = range(1, len(a) + 1)
    agreement = [top_overlap(a, b, depth) for depth in depths]
    weights = [(1 - persistence) * persistence ** (depth - 1) for depth in depths]
    head = fsum(weight * share for weight, share in zip(weights, agreement, strict=True))
    return min(1.0, head + agreement[-1] * persistence ** len(a))

"""How far two rankings agree at the top, ties shared out evenly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen._internal.checks import whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray


def top_shares(scores: NDArray[Any], depth: int) -> NDArray[np.float64]:
    """Return how likely each item is among the top ``depth`` if ties are broken at random.

    Examples:
        >>> top_shares(np.array([9, 5, 5, 1]), 2).tolist()
        [1.0, 0.5, 0.5, 0.0]
    """
    above = (scores > scores[:, None]).sum(axis=1)
    equal = (scores == scores[:, None]).sum(axis=1)
    return np.asarray(np.clip((depth - above) / equal, 0.0, 1.0))


def top_overlap(a: NDArray[Any], b: NDArray[Any], depth: int) -> float:
    """Return the share of the top ``depth`` items that two rankings have in common, expected over ties.

    Args:
        a: A score for each item, the higher the better.
        b: Scores of the same items.
        depth: From 1 to the number of items.

    Raises:
        ValueError: A depth outside that range.

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
        a: A score for each item, the higher the better.
        b: Scores of the same items.
        persistence: p of the model, between 0 and 1: how likely a reader goes on to the next rank.

    Returns:
        From 0 to 1, the top ranks weigh most. Ties are broken at random, in expectation (RBO-a), so that a
        ranking with ties is not at 1 with itself.

    Raises:
        ValueError: p outside (0, 1), or no items.

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
    head = sum(weight * share for weight, share in zip(weights, agreement, strict=True))
    return min(1.0, head + agreement[-1] * persistence ** len(a))

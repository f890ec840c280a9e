"""Rank intervals: all ranks that an item can have, given the uncertain differences between scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


DECIMALS = 7
"""Scores that are equal to this many decimals are tied; numerical errors of fitted scores are smaller."""


def ranks_of(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rank of each score from 1, the highest first; equal scores share the better rank.

    Examples:
        >>> ranks_of(np.array([0.2, 0.9, 0.2])).tolist()
        [2, 1, 2]
    """
    scores = np.round(scores, DECIMALS)
    ordered = np.sort(scores)
    return np.asarray(len(scores) - np.searchsorted(ordered, scores, side="right") + 1)


def rank_intervals(
    scores: NDArray[np.float64],
    resamples: NDArray[np.float64],
    confidence: float = 0.95,
    groups: NDArray[np.intp] | None = None,
) -> NDArray[np.intp]:
    """Return the lowest and the highest possible rank of each item, shape (m, 2).

    Item i can have rank 1 unless another item is surely better. Another item is surely better (or worse) if
    the confidence interval of its difference to item i excludes 0. These intervals hold for all other items
    at the same time.

    Args:
        scores: Score of each item, shape (m,), higher is better.
        resamples: Scores in resampled data, shape (B, m), B >= 2; NaN where the data say nothing about an
            item. An item whose scores are all NaN can have any rank.
        confidence: Probability that the interval of an item contains the true rank, in (0, 1).
        groups: Group of each item, shape (m,). Items of different groups cannot be compared, so any order of
            them is possible; default: one group.

    Notes:
        Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91, 476: marginal confidence
        sets of ranks, with studentised bootstrap.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> scores = np.array([5.0, 0.1, 0.0])
        >>> rank_intervals(scores, scores + rng.normal(size=(500, 3))).tolist()
        [[1, 1], [2, 3], [2, 3]]
    """
    scores, resamples = np.round(scores, DECIMALS), np.round(resamples, DECIMALS)
    items = len(scores)
    intervals = np.empty((items, 2), np.intp)
    for item in range(items):
        gaps = scores[item] - scores
        errors = (resamples[:, [item]] - resamples) - gaps
        is_known = ~np.isnan(errors)
        known = is_known.sum(axis=0)
        errors[~is_known] = 0.0
        spread = np.sqrt((errors**2).sum(axis=0) / np.maximum(known, 1))
        comparable = (known > 0) if groups is None else (known > 0) & (groups == groups[item])
        comparable[item] = False
        varying = comparable & (spread > 0)
        reach = np.zeros(items)
        if varying.any():
            drawn = ~np.isnan(resamples[:, item])
            largest = (np.abs(errors[np.ix_(drawn, varying)]) / spread[varying]).max(axis=1)
            reach[varying] = np.quantile(largest, confidence) * spread[varying]
        better = int((comparable & (gaps < -reach)).sum())
        worse = int((comparable & (gaps > reach)).sum())
        intervals[item] = (1 + better, items - worse)
    return intervals


def rank_correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    """Return Kendall's tau-b of two lists of scores; None if all scores of one list are equal.

    A ranking has few items, so all pairs are compared; scipy.stats would take longer to import.

    Examples:
        >>> rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
        0.3333333333333333
    """
    a, b = np.round(a, DECIMALS), np.round(b, DECIMALS)
    a_signs, b_signs = np.sign(a[:, None] - a), np.sign(b[:, None] - b)
    scale = np.sqrt(np.abs(a_signs).sum() * np.abs(b_signs).sum())
    return float((a_signs * b_signs).sum() / scale) if scale else None

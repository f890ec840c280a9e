"""Rank intervals: all ranks that an item can have, given the uncertain differences between scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


DECIMALS = 7
"""Scores that are equal to this many decimals are tied; numerical errors of fitted scores are smaller."""


def ranks_of(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rank of each score from 1, the highest first; equal scores share the better rank."""
    scores = np.round(scores, DECIMALS)
    ordered = np.sort(scores)
    return np.asarray(len(scores) - np.searchsorted(ordered, scores, side="right") + 1)


def rank_intervals(
    scores: NDArray[np.float64],
    resamples: NDArray[np.float64],
    confidence: float = 0.95,
    groups: NDArray[np.intp] | None = None,
) -> NDArray[np.intp]:
    """Return the lowest and the highest possible rank of each item, shape (m, 2)."""
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
    """Return Kendall's tau-b of two lists of scores; None if all scores of one list are equal."""
    a, b = np.round(a, DECIMALS), np.round(b, DECIMALS)
    a_signs, b_signs = np.sign(a[:, None] - a), np.sign(b[:, None] - b)
    scale = np.sqrt(np.abs(a_signs).sum() * np.abs(b_signs).sum())
    return float((a_signs * b_signs).sum() / scale) if scale else None

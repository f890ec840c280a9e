"""Krippendorff's alpha (agreement of raters) for ordinal ratings with missing values, also with weights."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def krippendorff_alpha(ratings: ArrayLike) -> float | None:
    """Return Krippendorff's alpha of ordinal ratings.

    Args:
        ratings: Array of shape (rated items, raters), NaN for a missing rating. Only the order of the ratings
            matters, not their distances.

    Returns:
        Alpha is 1 for full agreement, 0 for agreement by chance, and below 0 for agreement worse than chance.
        Alpha is undefined, and the result None, if no item has two ratings or all ratings are equal.

    Raises:
        ValueError: ``ratings`` is not a table of two dimensions.

    Notes:
        Alpha is defined in Krippendorff, Content Analysis, 2004, chapter 11; the ``krippendorff`` package
        computes it.

    Examples:
        >>> nan = float("nan")
        >>> round(krippendorff_alpha([[1, 1], [2, 2], [3, 3], [3, 4], [nan, 4]]), 4)  # 1 - 7 * 4 / 312
        0.9103
        >>> krippendorff_alpha([[2, 2], [2, 2]]) is None
        True
    """
    table = np.asarray(ratings, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"ratings must be (units, raters), got {table.ndim} dimensions")
    pairable = table[(~np.isnan(table)).sum(axis=1) >= 2]
    if len(np.unique(pairable[~np.isnan(pairable)])) < 2:
        return None
    import krippendorff

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return float(krippendorff.alpha(pairable.T, level_of_measurement="ordinal"))


def sum_groups(table: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return, for each row and each group of columns, the sum of the columns."""
    order = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.nonzero(np.diff(groups[order]))[0] + 1])
    sums: NDArray[np.float64] = np.add.reduceat(table[:, order], starts, axis=1)
    return sums


def weighted_alpha(ratings: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Krippendorff's alpha for many sets of weights; an item of weight 2 counts twice."""
    rated = ~np.isnan(ratings)
    pairable = rated.sum(axis=1) >= 2
    ratings, rated, weights = ratings[pairable], rated[pairable], weights[:, pairable]
    if not len(ratings):
        return np.full(len(weights), np.nan)
    size = rated.sum(axis=1)
    unit = np.nonzero(rated)[0]
    value = np.unique(ratings[rated], return_inverse=True)[1]
    counts = sum_groups(weights[:, unit], value)
    ranks = np.cumsum(counts, axis=1) - counts / 2
    rank_sums = sum_groups(ranks[:, value], unit)
    square_sums = sum_groups(np.square(ranks)[:, value], unit)
    observed = (weights * (size * square_sums - np.square(rank_sums)) / (size - 1)).sum(axis=1)
    n = counts.sum(axis=1)
    expected = n * (counts * np.square(ranks)).sum(axis=1) - np.square((counts * ranks).sum(axis=1))
    defined = (counts > 0).sum(axis=1) >= 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, 1 - (n - 1) * observed / expected, np.nan)

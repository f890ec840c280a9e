"""Krippendorff's alpha for ordinal values, some of them missing; many weightings of the units at once."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def krippendorff_alpha(ratings: ArrayLike) -> float | None:
    """Return Krippendorff's alpha of ordinal ratings.

    Args:
        ratings: (units, raters); NaN where a rater gave none. Any numbers: only their order counts.

    Returns:
        1 for full agreement, 0 for what chance gives, below 0 for less; None where it is undefined: no unit
        has two ratings, or all ratings are the same.

    Raises:
        ValueError: ``ratings`` is no table.

    Notes:
        Krippendorff, Content Analysis, 2004, chapter 11; by the ``krippendorff`` package.

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
    """Add up the columns of each group.

    Args:
        table: (rows, columns).
        groups: The group of each column, 0, 1, ... without gaps.

    Examples:
        >>> sum_groups(np.array([[1.0, 2.0, 4.0]]), np.array([1, 0, 1]))
        array([[2., 5.]])
    """
    order = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.nonzero(np.diff(groups[order]))[0] + 1])
    found: NDArray[np.float64] = np.add.reduceat(table[:, order], starts, axis=1)
    return found


def weighted_alpha(ratings: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``krippendorff_alpha`` with each unit counted as often as its weight says, for many weightings.

    Args:
        ratings: (units, raters), NaN for none.
        weights: (weightings, units), >= 0.

    Returns:
        One alpha a weighting; NaN where it is undefined.

    Notes:
        The ordinal distance of two values is that of their mid-ranks among all pairable ratings, so what is
        observed and what is expected are sums of squares, and no matrix of values is needed.

    Examples:
        >>> ratings = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 4.0]])
        >>> weighted_alpha(ratings, np.array([[1.0, 1.0, 2.0]]))  # 1 - 7 * 8 / 320
        array([0.825])
    """
    given = ~np.isnan(ratings)
    pairable = given.sum(axis=1) >= 2
    ratings, given, weights = ratings[pairable], given[pairable], weights[:, pairable]
    if not len(ratings):
        return np.full(len(weights), np.nan)
    size = given.sum(axis=1)
    unit = np.nonzero(given)[0]
    where = np.unique(ratings[given], return_inverse=True)[1]
    counts = sum_groups(weights[:, unit], where)
    ranks = np.cumsum(counts, axis=1) - counts / 2
    total = sum_groups(ranks[:, where], unit)
    squares = sum_groups(np.square(ranks)[:, where], unit)
    observed = (weights * (size * squares - np.square(total)) / (size - 1)).sum(axis=1)
    n = counts.sum(axis=1)
    expected = n * (counts * np.square(ranks)).sum(axis=1) - np.square((counts * ranks).sum(axis=1))
    varied = (counts > 0).sum(axis=1) >= 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(varied, 1 - (n - 1) * observed / expected, np.nan)

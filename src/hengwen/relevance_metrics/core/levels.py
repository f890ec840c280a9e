"""Map scores with few different values (levels) to small integers, which makes the metrics faster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAMPLE_SIZE = 2048
_MAX_LEVELS = 64


def few_levels(row: NDArray[Any]) -> NDArray[np.uint8] | None:
    """Return small integers (uint8) that are ordered like the scores; None if there are too many levels.

    Args:
        row: One sequence without NaN.

    Returns:
        Whole numbers with a range below 256 are shifted to begin at 0. Other scores are replaced by their
        ranks if the first 2048 scores have at most 64 levels (different values) and the remaining scores have
        no other level.

    Examples:
        >>> few_levels(np.array([0.5, 1.0, 0.5])).tolist()
        [0, 1, 0]
        >>> few_levels(np.array([-3, 200, 0])).tolist()
        [0, 203, 3]
        >>> few_levels(np.arange(300)) is None
        True
    """
    if not len(row):
        return np.zeros(0, np.uint8)
    if row.dtype.kind in "iu":
        low = row.min()
        if int(row.max()) - int(low) < 256:
            shifted: NDArray[np.uint8] = (row.astype(np.int64, copy=False) - low.astype(np.int64)).astype(
                np.uint8
            )
            return shifted
    levels = np.unique(row[:_SAMPLE_SIZE])
    if len(levels) > _MAX_LEVELS:
        return None
    ranks = np.zeros(len(row), np.uint8)
    for level in levels[:-1]:
        ranks += row > level
    return ranks if np.array_equal(levels[ranks], row) else None


def ranks_of(rows: NDArray[Any]) -> NDArray[Any]:
    """Return dense ranks (equal scores share a rank) of each row, as unsigned integers.

    No rank is the maximum of its integer type, so callers can use the maximum as a mark.

    Examples:
        >>> ranks_of(np.array([[2.5, 1.0, 2.5]])).tolist()
        [[1, 0, 1]]
    """
    order = np.argsort(rows, axis=1, kind="stable")
    ranked = np.take_along_axis(rows, order, axis=1)
    dtype = np.min_scalar_type(rows.shape[1])
    steps = np.zeros(rows.shape, dtype)
    np.cumsum(ranked[:, 1:] != ranked[:, :-1], axis=1, dtype=dtype, out=steps[:, 1:])
    out = np.empty(rows.shape, dtype)
    np.put_along_axis(out, order, steps, axis=1)
    return out

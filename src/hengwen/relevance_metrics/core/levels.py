"""Map scores with few different values (levels) to small integers, which makes the metrics faster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAMPLE_SIZE = 2048
_MAX_LEVELS = 64


def few_levels(row: NDArray[Any]) -> NDArray[np.uint8] | None:
    """Return small integers (uint8) that are ordered like the scores; None if there are too many levels."""
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
    """Return dense ranks (equal scores share a rank) of each row, as unsigned integers."""
    order = np.argsort(rows, axis=1, kind="stable")
    ranked = np.take_along_axis(rows, order, axis=1)
    dtype = np.min_scalar_type(rows.shape[1])
    steps = np.zeros(rows.shape, dtype)
    np.cumsum(ranked[:, 1:] != ranked[:, :-1], axis=1, dtype=dtype, out=steps[:, 1:])
    out = np.empty(rows.shape, dtype)
    np.put_along_axis(out, order, steps, axis=1)
    return out

"""For each score, how many before and after it are greater or less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CELLS = 1 << 20


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Counts for each score; equal scores are in neither."""

    greater_before: NDArray[np.int64]
    less_before: NDArray[np.int64]
    greater_after: NDArray[np.int64]
    less_after: NDArray[np.int64]


def count_sides(row: NDArray[Any]) -> PairCounts:
    """Compare all pairs, some rows of the comparison at a time: O(n^2) steps, bounded memory.

    Examples:
        >>> sides = count_sides(np.array([2, 1, 3]))
        >>> sides.greater_before.tolist(), sides.greater_after.tolist()
        ([0, 1, 0], [1, 1, 0])
    """
    n = len(row)
    counts = np.zeros((4, n), np.int64)
    places = np.arange(n)
    step = max(1, _CELLS // max(n, 1))
    for start in range(0, n, step):
        part = slice(start, start + step)
        before = places < places[part, None]
        greater = row > row[part, None]
        less = row < row[part, None]
        for target, side in enumerate((greater & before, less & before, greater & ~before, less & ~before)):
            counts[target, part] = np.count_nonzero(side, axis=1)
    return PairCounts(*counts)

"""Count, for each score, the greater and lesser scores before and after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CELLS = 1 << 20


@dataclass(frozen=True, slots=True)
class PairCounts:
    """For each score, numbers of greater and lesser scores before and after it; equal scores do not count."""

    greater_before: NDArray[np.int64]
    less_before: NDArray[np.int64]
    greater_after: NDArray[np.int64]
    less_after: NDArray[np.int64]


def count_pairs(row: NDArray[Any]) -> PairCounts:
    """Compare all pairs of scores, in O(n^2) steps and bounded memory."""
    n = len(row)
    counts = np.zeros((4, n), np.int64)
    indices = np.arange(n)
    step = max(1, _CELLS // max(n, 1))
    for start in range(0, n, step):
        part = slice(start, start + step)
        before = indices < indices[part, None]
        greater = row > row[part, None]
        less = row < row[part, None]
        for kind, pairs in enumerate((greater & before, less & before, greater & ~before, less & ~before)):
            counts[kind, part] = np.count_nonzero(pairs, axis=1)
    return PairCounts(*counts)

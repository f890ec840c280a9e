"""Sort and number long columns of whole numbers fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_KEY = 1 << 62


def stable_order(keys: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the order that sorts keys >= 0; equal keys keep their order."""
    rows = max(len(keys), 1)
    if int(keys.max(initial=0)) >= MAX_KEY // rows:
        return np.argsort(keys, kind="stable")
    # numbers that differ can be sorted by an unstable method, which is several times faster
    combined = keys * rows + np.arange(len(keys))
    combined.sort()
    return np.asarray(combined % rows)


def distinct_codes(keys: NDArray[np.intp], bound: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct keys in ascending order, and the index of each key among them."""
    if bound > 4 * len(keys) + (1 << 16):
        distinct, codes = np.unique(keys, return_inverse=True)
        return distinct, codes
    distinct = np.flatnonzero(np.bincount(keys, minlength=bound))
    table = np.zeros(bound, np.intp)
    table[distinct] = np.arange(len(distinct))
    return distinct, table[keys]


def group_sums(groups: NDArray[np.intp], values: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Return the sums of the values of each group from 0 to below ``count``, shape (count,)."""
    return np.asarray(np.bincount(groups, values, count), np.float64)

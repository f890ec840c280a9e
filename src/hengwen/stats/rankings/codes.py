"""Codes of models, sums of their groups, and the groups of models that matches connect."""

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


def table_sums(
    rows: NDArray[np.intp], columns: NDArray[np.intp], values: NDArray[Any] | None, shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return the sums of values by row and column; None counts."""
    cells = np.bincount(rows * shape[1] + columns, values, shape[0] * shape[1])
    return np.asarray(cells.reshape(shape), np.float64)


def compared_groups(first: NDArray[np.intp], second: NDArray[np.intp], items: int) -> NDArray[np.intp]:
    """Return the group of each item; two items are in one group if a chain of battles links them."""
    return _components(first, second, items, "weak")


def win_groups(
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    wins: NDArray[np.float64],
    losses: NDArray[np.float64],
    items: int,
) -> NDArray[np.intp]:
    """The group of each item; in a group, chains of wins or ties lead from each item to every other."""
    winner = np.concatenate([first[wins > 0], second[losses > 0]])
    loser = np.concatenate([second[wins > 0], first[losses > 0]])
    return _components(winner, loser, items, "strong")


def _components(
    start: NDArray[np.intp], end: NDArray[np.intp], items: int, connection: str
) -> NDArray[np.intp]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(start)), (start, end)), shape=(items, items)).tocsr()
    labels = connected_components(graph, directed=True, connection=connection)[1]
    _, order, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(order))[inverse])

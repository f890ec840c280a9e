"""Find groups of items that chains of battles link, and groups of items that chains of wins link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


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

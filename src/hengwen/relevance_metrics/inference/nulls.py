"""Orders of the same scores: all of them, or random ones."""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_MAX_CELLS = 2_000_000


def in_chunks(draws: int, n: int) -> Iterator[int]:
    """Split ``draws`` random orders of n scores into batches that fit in memory; yield the batch sizes."""
    size = max(1, _MAX_CELLS // max(n, 1))
    for start in range(0, draws, size):
        yield min(size, draws - start)


def shuffles(row: NDArray[Any], rng: np.random.Generator, draws: int) -> NDArray[Any]:
    """Return random orders of the scores in a row; each row of the result is one order."""
    return rng.permuted(np.tile(row, (draws, 1)), axis=1)


def arrangements(row: NDArray[Any]) -> int:
    """Return the number of different orders of the scores."""
    groups: list[int] = np.unique(row, return_counts=True)[1].tolist()
    total, count = 0, 1
    for size in groups:
        total += size
        count *= math.comb(total, size)
    return count


def all_orders(row: NDArray[Any]) -> NDArray[Any]:
    """Return all different orders of the scores."""
    levels, sizes = np.unique(row, return_counts=True)
    orders = _orders(sizes.tolist())
    return levels[np.array(orders, np.intp).reshape(len(orders), len(row))]


def _orders(sizes: list[int]) -> list[tuple[int, ...]]:
    """Return all orders of a multiset, given how often each of its values occurs."""
    if not any(sizes):
        return [()]
    orders = []
    for level, size in enumerate(sizes):
        if size:
            tails = _orders([*sizes[:level], size - 1, *sizes[level + 1 :]])
            orders += [(level, *tail) for tail in tails]
    return orders


def group_orders(row: NDArray[Any], groups: Sequence[NDArray[np.intp]]) -> NDArray[Any]:
    """Return all different orders in which scores change places only within groups of indices."""
    choices = [all_orders(row[indices]) for indices in groups]
    rows = np.tile(row, (math.prod(len(choice) for choice in choices), 1))
    for target, orders in zip(rows, product(*choices), strict=True):
        for indices, scores in zip(groups, orders, strict=True):
            target[indices] = scores
    return rows


def block_orders(row: NDArray[Any], blocks: Sequence[NDArray[np.intp]]) -> NDArray[Any]:
    """Return the row with its blocks in every possible order."""
    return np.array([row[np.concatenate(order)] for order in permutations(blocks)])

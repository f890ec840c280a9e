"""Lengths of longest increasing subsequences: patience sorting, quicker for few levels and for batches."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.relevance_metrics.core.levels import few_levels, ranks_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_LONG = 4096
_FEW = 12
_MANY_ROWS = 32
_SHORT_ROWS = 1024
_CELLS = 200_000


def row_length(row: NDArray[Any], strict: bool) -> int:
    """Return the length for one sequence without NaN.

    Examples:
        >>> row_length(np.array([2, 1, 2, 3]), True), row_length(np.array([2, 2, 1]), False)
        (3, 2)
    """
    if len(row) > _LONG:
        level = few_levels(row)
        if level is not None and int(level.max()) < _FEW:
            return _strict_by_level(level) if strict else _weak_by_level(level)
    return _patience(row, strict)


def batch_lengths(rows: NDArray[Any], strict: bool) -> NDArray[np.int64]:
    """Return the length for each row.

    Examples:
        >>> batch_lengths(np.array([[1, 2, 3], [3, 2, 1]]), True).tolist()
        [3, 1]
    """
    n = rows.shape[1]
    if len(rows) < _MANY_ROWS or not 1 <= n <= _SHORT_ROWS:
        return np.array([row_length(row, strict) for row in rows], np.int64)
    few = few_levels(rows.ravel())
    ranked = few is not None and int(few.max(initial=0)) < np.iinfo(few.dtype).max
    ranks = few.reshape(rows.shape) if few is not None and ranked else ranks_of(rows)
    step = max(1, _CELLS // n)
    parts = (ranks[start : start + step].T.copy() for start in range(0, len(rows), step))
    return np.concatenate([column_lengths(part, part.shape[1], strict) for part in parts])


def column_lengths(steps: Iterable[NDArray[Any]], columns: int, strict: bool) -> NDArray[np.int64]:
    """Return the length for each of many sequences side by side.

    Args:
        steps: For each place the scores of all sequences there, unsigned and below the limit of their type.
        columns: How many sequences.
        strict: Whether members must differ.

    Examples:
        >>> column_lengths(np.array([[1, 3], [2, 2], [2, 1]], np.uint8), 2, True).tolist()
        [2, 1]
    """
    offsets = np.arange(columns)
    tails: NDArray[Any] = np.zeros((0, columns), np.uint8)
    top = 0
    for scores in steps:
        if top == len(tails):
            free = np.full((16, columns), np.iinfo(scores.dtype).max, scores.dtype)
            tails = np.concatenate([tails.astype(scores.dtype), free])
        piles = tails[:top]
        below = (piles < scores) if strict else (piles <= scores)
        place = np.add.reduce(below.view(np.uint8), axis=0, dtype=np.intp)
        top += bool((place == top).any())
        place *= columns
        place += offsets
        tails.ravel()[place] = scores
    if not len(tails):
        return np.zeros(columns, np.int64)
    lengths: NDArray[np.int64] = np.add.reduce(tails < np.iinfo(tails.dtype).max, axis=0, dtype=np.int64)
    return lengths


def _patience(row: NDArray[Any], strict: bool) -> int:
    """Sort by blocks, so that the scores are not all held as objects, and by the loop that fits the block."""
    tails: list[Any] = []
    grown = True
    for start in range(0, len(row), _LONG):
        before = len(tails)
        block = row[start : start + _LONG].tolist()
        (_pile_growing if grown else _pile_settled)(tails, block, strict)
        grown = len(tails) - before > _LONG // 10
    return len(tails)


def _pile_growing(tails: list[Any], block: list[Any], strict: bool) -> None:
    find = bisect_left if strict else bisect_right
    for score in block:
        place = find(tails, score)
        if place == len(tails):
            tails.append(score)
        else:
            tails[place] = score


def _pile_settled(tails: list[Any], block: list[Any], strict: bool) -> None:
    find = bisect_left if strict else bisect_right
    for score in block:
        try:
            tails[find(tails, score)] = score
        except IndexError:
            tails.append(score)


def _strict_by_level(level: NDArray[np.uint8]) -> int:
    """Level by level, the best of each prefix: it rises by one where the next level is met."""
    best = np.zeros(len(level) + 1, np.uint8)
    for value in range(int(level.max()) + 1):
        taken = best[:-1] + np.uint8(1)
        taken *= level == value
        np.maximum(best[1:], np.maximum.accumulate(taken), out=best[1:])
    return int(best[-1])


def _weak_by_level(level: NDArray[np.uint8]) -> int:
    """Level by level, the best of each prefix: up to some place lower levels, then all of this one."""
    best = np.zeros(len(level) + 1, np.int64)
    met = np.zeros(len(level) + 1, np.int64)
    for value in range(int(level.max()) + 1):
        np.cumsum(level == value, out=met[1:])
        best -= met
        np.maximum.accumulate(best, out=best)
        best += met
    return int(best[-1])

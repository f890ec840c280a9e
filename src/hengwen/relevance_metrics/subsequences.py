"""Find the longest increasing subsequence: its length and its members."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from hengwen.relevance_metrics.core import (
    as_rows,
    as_scores,
    as_sequence,
    few_levels,
    ranks_of,
    refuse_nan,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

_BLOCK = 4096
_MAX_LEVELS = 12
_MIN_BATCH_ROWS = 32
_MAX_BATCH_LENGTH = 1024
_CELLS = 200_000


def row_length(row: NDArray[Any], strict: bool) -> int:
    """Return the length of the longest increasing subsequence of one sequence without NaN."""
    if len(row) > _BLOCK:
        level = few_levels(row)
        if level is not None and int(level.max()) < _MAX_LEVELS:
            return _strict_by_level(level) if strict else _weak_by_level(level)
    return _patience(row, strict)


def batch_lengths(rows: NDArray[Any], strict: bool) -> NDArray[np.int64]:
    """Return the length of the longest increasing subsequence of each row."""
    n = rows.shape[1]
    if len(rows) < _MIN_BATCH_ROWS or not 1 <= n <= _MAX_BATCH_LENGTH:
        return np.array([row_length(row, strict) for row in rows], np.int64)
    levels = few_levels(rows.ravel())
    usable = levels is not None and int(levels.max(initial=0)) < np.iinfo(levels.dtype).max
    ranks = levels.reshape(rows.shape) if levels is not None and usable else ranks_of(rows)
    step = max(1, _CELLS // n)
    parts = (ranks[start : start + step].T.copy() for start in range(0, len(rows), step))
    return np.concatenate([column_lengths(part, part.shape[1], strict) for part in parts])


def column_lengths(steps: Iterable[NDArray[Any]], columns: int, strict: bool) -> NDArray[np.int64]:
    """Return the length of the longest increasing subsequence of each column."""
    offsets = np.arange(columns)
    tails: NDArray[Any] = np.zeros((0, columns), np.uint8)
    top = 0
    for scores in steps:
        if top == len(tails):
            free = np.full((16, columns), np.iinfo(scores.dtype).max, scores.dtype)
            tails = np.concatenate([tails.astype(scores.dtype), free])
        piles = tails[:top]
        below = (piles < scores) if strict else (piles <= scores)
        index = np.add.reduce(below.view(np.uint8), axis=0, dtype=np.intp)
        top += bool((index == top).any())
        index *= columns
        index += offsets
        tails.ravel()[index] = scores
    if not len(tails):
        return np.zeros(columns, np.int64)
    lengths: NDArray[np.int64] = np.add.reduce(tails < np.iinfo(tails.dtype).max, axis=0, dtype=np.int64)
    return lengths


def _patience(row: NDArray[Any], strict: bool) -> int:
    """Run patience sorting block by block, so that few scores become Python objects at a time."""
    tails: list[Any] = []
    grown = True
    for start in range(0, len(row), _BLOCK):
        before = len(tails)
        block = row[start : start + _BLOCK].tolist()
        (_pile_growing if grown else _pile_settled)(tails, block, strict)
        grown = len(tails) - before > _BLOCK // 10
    return len(tails)


def _pile_growing(tails: list[Any], block: list[Any], strict: bool) -> None:
    find = bisect_left if strict else bisect_right
    for score in block:
        index = find(tails, score)
        if index == len(tails):
            tails.append(score)
        else:
            tails[index] = score


def _pile_settled(tails: list[Any], block: list[Any], strict: bool) -> None:
    find = bisect_left if strict else bisect_right
    for score in block:
        try:
            tails[find(tails, score)] = score
        except IndexError:
            tails.append(score)


def _strict_by_level(level: NDArray[np.uint8]) -> int:
    """Return the length of the longest strictly increasing subsequence."""
    best = np.zeros(len(level) + 1, np.uint8)
    for value in range(int(level.max()) + 1):
        extended = best[:-1] + np.uint8(1)
        extended *= level == value
        np.maximum(best[1:], np.maximum.accumulate(extended), out=best[1:])
    return int(best[-1])


def _weak_by_level(level: NDArray[np.uint8]) -> int:
    """Return the length of the longest non-decreasing subsequence."""
    best = np.zeros(len(level) + 1, np.int64)
    count = np.zeros(len(level) + 1, np.int64)
    for value in range(int(level.max()) + 1):
        np.cumsum(level == value, out=count[1:])
        best -= count
        np.maximum.accumulate(best, out=best)
        best += count
    return int(best[-1])


@overload
def longest_increasing_subsequence(
    x: Sequence[float], *, strict: bool = True, decreasing: bool = False, axis: int = -1
) -> int: ...
@overload
def longest_increasing_subsequence(
    x: ArrayLike, *, strict: bool = True, decreasing: bool = False, axis: int = -1
) -> int | NDArray[np.int64]: ...


def longest_increasing_subsequence(
    x: ArrayLike, *, strict: bool = True, decreasing: bool = False, axis: int = -1
) -> int | NDArray[np.int64]:
    """Return the length of the longest increasing subsequence.

    Args:
        x: Scores in order, n >= 0; an array with several axes is a batch of sequences.
        strict: Whether each member must be greater than the previous member; otherwise it may also be equal.
            A strict subsequence has at most as many members as there are different scores (5 on a scale from
            1 to 5), so ``strict=False`` is more informative on such scales.
        decreasing: Whether to look for the longest decreasing subsequence instead.
        axis: Axis of a batch along which the scores of a sequence follow each other.

    Returns:
        An int from 1 to n (0 for an empty sequence); for a batch, an array of int64.

    Raises:
        TypeError: A score is not a number.
        ValueError: A score is NaN, or the axis does not exist.

    Notes:
        Fredman (1975), Discrete Mathematics 11.

    Examples:
        >>> longest_increasing_subsequence([5, 4, 5, 4, 5, 4, 5, 4])
        2
        >>> longest_increasing_subsequence([5, 4, 5, 4, 5, 4, 5, 4], strict=False)
        4
        >>> longest_increasing_subsequence([])
        0
    """
    scores = as_scores(x, axis=axis)
    refuse_nan(scores)
    if decreasing:
        scores = scores[..., ::-1]
    if scores.ndim == 1:
        return row_length(scores, strict)
    return batch_lengths(as_rows(scores), strict).reshape(scores.shape[:-1])


def longest_increasing_indices(x: ArrayLike, *, strict: bool = True, decreasing: bool = False) -> list[int]:
    """Return the indices of the members of one longest increasing subsequence, ascending.

    Args:
        x: One sequence of scores in order, n >= 0.
        strict: Whether each member must be greater than the previous member; otherwise it may also be equal.
        decreasing: Whether to look for a longest decreasing subsequence instead.

    Raises:
        TypeError: A score is not a number.
        ValueError: A score is NaN, or there is more than one sequence.

    Examples:
        >>> longest_increasing_indices([3, 1, 2, 5, 4])
        [1, 2, 4]
        >>> longest_increasing_indices([3, 1, 2], decreasing=True)
        [0, 1]
    """
    scores = as_sequence(x)
    if not decreasing:
        return _members(scores.tolist(), strict)
    last = len(scores) - 1
    return [last - index for index in reversed(_members(scores[::-1].tolist(), strict))]


def _members(values: list[Any], strict: bool) -> list[int]:
    find = bisect_left if strict else bisect_right
    tails: list[Any] = []
    ends: list[int] = []
    previous: list[int] = []
    for index, score in enumerate(values):
        length = find(tails, score)
        previous.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [score]
        ends[length : length + 1] = [index]
    indices: list[int] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        indices.append(index)
        index = previous[index]
    return indices[::-1]

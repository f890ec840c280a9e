"""Inversions (pairs in which the later score is lower), and the longest increasing subsequence.

All counts are exact for any length. Kendall's tau-b follows from the inversions and the ties.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from hengwen.relevance_metrics.core import (
    as_rows,
    as_scores,
    as_sequence,
    check_choice,
    few_levels,
    ranks_of,
    refuse_nan,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_BITS = 7
_WIDTH = 256
_COLUMNS = 4096
_MIN_SHIFT = 8


def permutation_inversions(order: NDArray[np.intp]) -> int:
    """Count the inversions of a permutation of 0..n-1; its inverse has the same count."""
    n = len(order)
    shift = max(max(n - 1, 1).bit_length() - _BITS, _MIN_SHIFT)
    size = -(-n >> shift) << shift
    values = np.concatenate([order, np.arange(n, size)]).astype(np.int64 if size > 2**31 else np.int32)
    groups: NDArray[Any] = values.reshape(1, size)
    total = 0
    while True:
        digits = ((groups >> shift) & ((1 << _BITS) - 1)).astype(np.uint8)
        total += _digit_inversions(digits)
        if shift == 0:
            return total
        ranked = np.argsort(digits, axis=1, kind="stable")
        groups = np.take_along_axis(groups, ranked, axis=1).reshape(-1, 1 << shift)
        shift = max(shift - _BITS, 0)


def _digit_inversions(digits: NDArray[np.uint8]) -> int:
    width = min(_WIDTH, digits.shape[1])
    blocks = digits.reshape(-1, width)
    inside = sum(
        _inside(np.ascontiguousarray(blocks[start : start + _COLUMNS].T))
        for start in range(0, len(blocks), _COLUMNS)
    )
    return inside + (_between(digits, width) if digits.shape[1] > width else 0)


def _inside(columns: NDArray[np.uint8]) -> int:
    """Count the pairs of digits in a column whose larger digit comes first."""
    return sum(int(np.count_nonzero(row > columns[i + 1 :])) for i, row in enumerate(columns))


def _between(digits: NDArray[np.uint8], width: int) -> int:
    """Count the pairs of digits in a row whose larger digit is in an earlier block of ``width`` columns."""
    groups, length = digits.shape
    blocks = length // width
    kinds = 1 << _BITS
    dtype = np.int32 if length < 2**31 else np.int64
    cell = np.arange(groups * blocks)[:, None] * kinds + digits.reshape(-1, width)
    flat_counts = np.bincount(cell.ravel(), minlength=groups * blocks * kinds)
    counts = flat_counts.astype(dtype).reshape(groups, blocks, kinds)
    before: NDArray[Any] = np.cumsum(counts, axis=1, dtype=dtype)
    before -= counts
    less: NDArray[Any] = np.cumsum(counts, axis=2, dtype=dtype)
    less -= counts
    return int(np.multiply(before, less, dtype=np.int64).sum())


_MAX_SMALL_LENGTH = 256
_MIN_BATCH_ROWS = 8
_CELLS = 100_000


@overload
def count_inversions(x: Sequence[float], *, normalize: None = None, axis: int = -1) -> int: ...
@overload
def count_inversions(x: Sequence[float], *, normalize: Literal["pairs"], axis: int = -1) -> float: ...
@overload
def count_inversions(
    x: ArrayLike, *, normalize: Literal["pairs"] | None = None, axis: int = -1
) -> int | float | NDArray[np.int64] | NDArray[np.float64]: ...


def count_inversions(
    x: ArrayLike, *, normalize: Literal["pairs"] | None = None, axis: int = -1
) -> int | float | NDArray[np.int64] | NDArray[np.float64]:
    """Count the pairs i < j with x[i] > x[j]. Ties do not count.

    Args:
        x: Scores in order, n >= 0; an array with several axes is a batch of sequences.
        normalize: None returns the count, ``pairs`` the count divided by the number n(n-1)/2 of all pairs.
        axis: Axis of a batch along which the scores of a sequence follow each other.

    Returns:
        An int from 0 (never falls) to n(n-1)/2 (always falls), or a float from 0 to 1 if normalized. For a
        batch, the result is an array.

    Raises:
        TypeError: A score is not a number.
        ValueError: A score is NaN, the axis does not exist, or the count is to be divided by 0 pairs.

    Notes:
        The count is Kendall's tau distance to the sorted order (Knuth, TAOCP vol. 3, 5.1.1). The mean count
        over random orders is half of the number of pairs with different scores.

    Examples:
        >>> count_inversions([1, 3, 2])
        1
        >>> count_inversions([3, 2, 1], normalize="pairs")
        1.0
        >>> count_inversions([])
        0
    """
    check_choice("normalize", normalize, [None, "pairs"])
    scores = as_scores(x, axis=axis)
    refuse_nan(scores)
    rows = as_rows(scores)
    counts: NDArray[Any] = batch_inversions(rows)
    if normalize is not None:
        n = rows.shape[1]
        if n < 2:
            raise ValueError(f"{n} scores have no pairs to take a share of; use normalize=None")
        counts = counts / (n * (n - 1) // 2)
    if scores.ndim == 1:
        value: int | float = counts[0].item()
        return value
    return counts.reshape(scores.shape[:-1])


def batch_inversions(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Count the inversions of each row."""
    if len(rows) < _MIN_BATCH_ROWS or rows.shape[1] > _MAX_SMALL_LENGTH:
        return np.array([_count(row) for row in rows], np.int64)
    few = few_levels(rows.ravel())
    small = rows if few is None else few.reshape(rows.shape)
    step = max(1, _CELLS // rows.shape[1])
    parts = [_column_inversions(small[start : start + step].T.copy()) for start in range(0, len(rows), step)]
    return np.concatenate(parts)


def _column_inversions(columns: NDArray[Any]) -> NDArray[np.int64]:
    total = np.zeros(columns.shape[1], np.int64)
    for index, scores in enumerate(columns[:-1], 1):
        total += np.add.reduce((scores > columns[index:]).view(np.uint8), axis=0, dtype=np.uint8)
    return total


def tied_pairs(row: NDArray[Any]) -> int:
    """Count the pairs of equal scores."""
    groups = np.unique(row, return_counts=True)[1]
    return int((groups * (groups - 1) // 2).sum())


def tied_share(row: NDArray[Any]) -> float:
    """Return the share of pairs of equal scores; 0 if there is no pair."""
    pairs = len(row) * (len(row) - 1) // 2
    return tied_pairs(row) / pairs if pairs else 0.0


def inversion_moments(row: NDArray[Any]) -> tuple[float, float]:
    """Return the mean and standard deviation of the inversions over random orders; scores may be equal."""
    n = len(row)
    groups: list[int] = np.unique(row, return_counts=True)[1].tolist()
    untied = n * (n - 1) // 2 - sum(size * (size - 1) // 2 for size in groups)
    spread = n * (n - 1) * (2 * n + 5) - sum(size * (size - 1) * (2 * size + 5) for size in groups)
    return untied / 2, math.sqrt(spread / 72)


def _count(row: NDArray[Any]) -> int:
    if len(row) <= _MAX_SMALL_LENGTH:
        return int(np.count_nonzero(np.triu(row[:, None] > row, 1)))
    level = few_levels(row)
    if level is not None:
        return _count_levels(level, 0, int(level.max()) + 1)
    return permutation_inversions(_stable_order(row))


def _stable_order(row: NDArray[Any]) -> NDArray[np.intp]:
    """Return the stable sort order; if no scores are equal, the faster default sort gives the same order."""
    if row.dtype.kind == "f":
        order = np.argsort(row)
        ranked = row[order]
        if not (ranked[1:] == ranked[:-1]).any():
            return order
    return np.argsort(row, kind="stable")


def _count_levels(level: NDArray[np.uint8], low: int, high: int) -> int:
    """Count inversions between the low and the high half of the distinct scores, then inside each half."""
    if high - low < 2 or len(level) < 2:
        return 0
    middle = (low + high) // 2
    is_low = level < middle
    indices = np.flatnonzero(is_low)
    across = int(indices.sum()) - len(indices) * (len(indices) - 1) // 2
    return across + _count_levels(level[is_low], low, middle) + _count_levels(level[~is_low], middle, high)


def tau_b(row: NDArray[Any]) -> float | None:
    """Return tau-b of scores with time: -1 if they always fall, 1 if they rise; None if all are equal."""
    pairs = len(row) * (len(row) - 1) // 2
    untied = pairs - tied_pairs(row)
    return float(tau_rows(row[None])[0]) if untied else None


def tau_rows(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return tau-b of scores with time for each row; 0 if all scores of the row are equal."""
    n = rows.shape[1]
    pairs = n * (n - 1) // 2
    untied = pairs - np.array([tied_pairs(row) for row in rows])
    rises_minus_falls = untied - 2 * batch_inversions(rows)
    scale = np.sqrt(float(pairs) * np.maximum(untied, 1))
    return np.asarray(np.clip(rises_minus_falls / scale, -1.0, 1.0))


_BLOCK = 4096
_MAX_LEVELS = 12
_MIN_BATCH_LENGTHS = 32
_MAX_BATCH_LENGTH = 1024
_LENGTH_CELLS = 200_000


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
    if len(rows) < _MIN_BATCH_LENGTHS or not 1 <= n <= _MAX_BATCH_LENGTH:
        return np.array([row_length(row, strict) for row in rows], np.int64)
    levels = few_levels(rows.ravel())
    usable = levels is not None and int(levels.max(initial=0)) < np.iinfo(levels.dtype).max
    ranks = levels.reshape(rows.shape) if levels is not None and usable else ranks_of(rows)
    step = max(1, _LENGTH_CELLS // n)
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
def longest_increasing_subsequence(x: Sequence[float], *, strict: bool = True, axis: int = -1) -> int: ...
@overload
def longest_increasing_subsequence(
    x: ArrayLike, *, strict: bool = True, axis: int = -1
) -> int | NDArray[np.int64]: ...


def longest_increasing_subsequence(
    x: ArrayLike, *, strict: bool = True, axis: int = -1
) -> int | NDArray[np.int64]:
    """Return the length of the longest increasing subsequence.

    Args:
        x: Scores in order, n >= 0; an array with several axes is a batch of sequences.
        strict: Whether each member must be greater than the previous member; otherwise it may also be equal.
            A strict subsequence has at most as many members as there are different scores (5 on a scale from
            1 to 5), so ``strict=False`` is more informative on such scales.
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
    if scores.ndim == 1:
        return row_length(scores, strict)
    return batch_lengths(as_rows(scores), strict).reshape(scores.shape[:-1])


def longest_increasing_indices(x: ArrayLike, *, strict: bool = True) -> list[int]:
    """Return the indices of the members of one longest increasing subsequence, ascending.

    Args:
        x: One sequence of scores in order, n >= 0.
        strict: Whether each member must be greater than the previous member; otherwise it may also be equal.

    Raises:
        TypeError: A score is not a number.
        ValueError: A score is NaN, or there is more than one sequence.

    Examples:
        >>> longest_increasing_indices([3, 1, 2, 5, 4])
        [1, 2, 4]
    """
    values: list[Any] = as_sequence(x).tolist()
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

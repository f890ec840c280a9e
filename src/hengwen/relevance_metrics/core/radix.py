"""Count the inversions of a long permutation from the seven-bit digits of its numbers, with numpy only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

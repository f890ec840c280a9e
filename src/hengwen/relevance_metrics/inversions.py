"""Count inversions (pairs in which the later score is lower), exactly for any length; Kendall's tau-b."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from hengwen.relevance_metrics.core import as_rows, as_scores, check_choice, few_levels, refuse_nan

if TYPE_CHECKING:
    from collections.abc import Sequence

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


Share = Literal["pairs", "untied"]
_MAX_SMALL_LENGTH = 256
_MIN_BATCH_ROWS = 8
_CELLS = 100_000


@overload
def count_inversions(x: Sequence[float], *, normalize: None = None, axis: int = -1) -> int: ...
@overload
def count_inversions(x: Sequence[float], *, normalize: Share, axis: int = -1) -> float: ...
@overload
def count_inversions(
    x: ArrayLike, *, normalize: Share | None = None, axis: int = -1
) -> int | float | NDArray[np.int64] | NDArray[np.float64]: ...


def count_inversions(
    x: ArrayLike, *, normalize: Share | None = None, axis: int = -1
) -> int | float | NDArray[np.int64] | NDArray[np.float64]:
    """Count the pairs i < j with x[i] > x[j]. Ties do not count.

    Args:
        x: Scores in order, n >= 0; an array with several axes is a batch of sequences.
        normalize: None returns the count, ``pairs`` the count divided by the number of all n(n-1)/2 pairs,
            and ``untied`` the count divided by the number of pairs with different scores.
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
        >>> count_inversions([3, 2, 2, 1], normalize="untied")
        1.0
        >>> count_inversions([])
        0
    """
    check_choice("normalize", normalize, [None, "pairs", "untied"])
    scores = as_scores(x, axis=axis)
    refuse_nan(scores)
    rows = as_rows(scores)
    counts: NDArray[Any] = batch_inversions(rows)
    if normalize is not None:
        counts = counts / _pair_counts(rows, normalize)
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


def _pair_counts(rows: NDArray[Any], normalize: str) -> NDArray[np.int64]:
    n = rows.shape[1]
    if n < 2:
        raise ValueError(f"{n} scores have no pairs to take a share of; use normalize=None")
    tied = [tied_pairs(row) if normalize == "untied" else 0 for row in rows]
    pairs: NDArray[np.int64] = n * (n - 1) // 2 - np.array(tied, np.int64)
    if not pairs.all():
        raise ValueError("all scores are equal, so no pair differs; use normalize='pairs'")
    return pairs


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


_PAIR_CELLS = 1 << 20


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
    step = max(1, _PAIR_CELLS // max(n, 1))
    for start in range(0, n, step):
        part = slice(start, start + step)
        before = indices < indices[part, None]
        greater = row > row[part, None]
        less = row < row[part, None]
        for kind, pairs in enumerate((greater & before, less & before, greater & ~before, less & ~before)):
            counts[kind, part] = np.count_nonzero(pairs, axis=1)
    return PairCounts(*counts)


_MIN_SCORES = 10


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


def u_statistic_interval(row: NDArray[Any], confidence: float) -> tuple[float, float, float]:
    """Return tau-b with its interval, (low, tau-b, high); scores must not depend on their neighbours."""
    n = len(row)
    if n < _MIN_SCORES:
        raise ValueError(f"a tau interval needs at least {_MIN_SCORES} scores, got {n}; use significance")
    tau = tau_b(row)
    if tau is None:
        raise ValueError("all scores are equal, so tau is not defined; look at the level instead")
    counts = count_pairs(row)
    rises = counts.less_before + counts.greater_after - counts.greater_before - counts.less_after
    parts = rises / (n - 1)
    variance = 4 * (n - 1) / (n * (n - 2) ** 2) * float(((parts - parts.mean()) ** 2).sum())
    tie_correction = math.sqrt(n * (n - 1) / 2 / (n * (n - 1) / 2 - tied_pairs(row)))
    standard_error = math.sqrt(variance) * tie_correction
    if standard_error < 1e-12 or abs(tau) > 1 - 1e-12:
        raise ValueError(f"tau is {tau:.3g} with no variance, so one sequence gives no interval; use prompts")
    return _on_z_scale(tau, standard_error, n - 2, confidence)


def _on_z_scale(
    tau: float, standard_error: float, freedom: int, confidence: float
) -> tuple[float, float, float]:
    from scipy.special import stdtrit

    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * standard_error / (1 - tau**2)
    return math.tanh(math.atanh(tau) - reach), tau, math.tanh(math.atanh(tau) + reach)

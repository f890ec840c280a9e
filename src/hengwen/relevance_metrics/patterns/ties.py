"""What to do with windows that hold a tie or a NaN: the labels of windows under each policy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core.inputs import check_choice, has_nan, refuse_nan
from hengwen.relevance_metrics.core.pattern_codes import pattern_codes, window_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

Ties = Literal["stable", "random", "average", "dense", "drop", "raise"]
NanPolicy = Literal["raise", "omit-window", "omit", "propagate"]
TIES: tuple[Ties, ...] = ("stable", "random", "average", "dense", "drop", "raise")
NAN_WAY_OUT = "drop it, or choose nan='omit-window', 'omit' or 'propagate'"
NAN_POLICIES: tuple[NanPolicy, ...] = ("raise", "omit-window", "omit", "propagate")
_AVERAGE_LIMIT = 8
_WEAK_LIMIT = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordinal:
    """How windows are read: their order and delay, and what happens to ties and NaN."""

    m: int = 3
    delay: int = 1
    ties: Ties = "stable"
    nan: NanPolicy = "raise"
    seed: int = 0
    draws: int = 32
    """Orders drawn for ``ties="random"``."""

    def __post_init__(self) -> None:
        whole_number("m", self.m, 2)
        whole_number("delay", self.delay)
        whole_number("draws", self.draws)
        check_choice("ties", self.ties, TIES)
        check_choice("nan", self.nan, NAN_POLICIES)
        if self.ties == "average" and self.m > _AVERAGE_LIMIT:
            raise ValueError(
                f"ties='average' needs m of at most {_AVERAGE_LIMIT}, got {self.m}; use 'random'"
            )

    @property
    def possible(self) -> int:
        """How many patterns there are: m!, or the weak orders of m where ties are patterns.

        Examples:
            >>> [Ordinal(m=m, ties="dense").possible for m in (2, 3, 4)]
            [3, 13, 75]
        """
        return _weak_orders(self.m) if self.ties == "dense" else factorial(self.m)

    def resolve_nan(self, row: NDArray[Any]) -> NDArray[Any]:
        """Return the row that is to be read: NaN refused, taken out, or left for windows to skip."""
        if self.nan == "raise":
            refuse_nan(row, NAN_WAY_OUT)
        return row[~np.isnan(row)] if self.nan == "omit" and has_nan(row) else row


@dataclass(frozen=True, slots=True)
class Labels:
    """The windows in use: their starts, and one label each."""

    starts: NDArray[np.intp]
    codes: NDArray[Any]


def label_windows(row: NDArray[Any], how: Ordinal) -> Labels:
    """Label the windows of one settled row; equal labels are equal patterns. Not for ``random``, ``average``.

    Raises:
        ValueError: No window is left, or a tie is met under ``ties="raise"``.

    Examples:
        >>> label_windows(np.array([1, 2, 2, 3]), Ordinal(m=2, ties="drop")).starts.tolist()
        [0, 2]
    """
    windows = window_count(len(row), how.m, how.delay)
    keep = ~_nan_windows(row, how) if has_nan(row) else np.ones(windows, bool)
    if not keep.any():
        raise ValueError("every window holds a NaN; use nan='omit' or fill them before")
    if how.ties in ("drop", "raise"):
        keep &= _without_ties(row, keep, how)
    codes = _weak_codes(row, how) if how.ties == "dense" else pattern_codes(row, how.m, how.delay)
    starts = np.flatnonzero(keep)
    return Labels(starts, codes if len(starts) == windows else codes[starts])


def tied_windows(row: NDArray[Any], how: Ordinal) -> NDArray[np.bool_]:
    """Which windows hold two equal scores.

    Examples:
        >>> tied_windows(np.array([1, 2, 2, 3]), Ordinal(m=2)).tolist()
        [False, True, False]
    """
    windows = window_count(len(row), how.m, how.delay)
    tied = np.zeros(windows, bool)
    for j in range(1, how.m):
        lag = j * how.delay
        equal = row[lag:] == row[:-lag]
        for first in range(how.m - j):
            tied |= equal[first * how.delay :][:windows]
    return tied


def pattern_of(window: NDArray[Any], ties: Ties) -> tuple[int, ...]:
    """Return the pattern by name: the stable argsort, or the dense ranks under ``ties="dense"``.

    Examples:
        >>> pattern_of(np.array([5, 4, 5]), "stable"), pattern_of(np.array([5, 4, 5]), "dense")
        ((1, 0, 2), (1, 0, 1))
    """
    if ties == "dense":
        ranks: list[int] = np.unique(window, return_inverse=True)[1].tolist()
        return tuple(ranks)
    order: list[int] = np.argsort(window, kind="stable").tolist()
    return tuple(order)


def named_counts(row: NDArray[Any], how: Ordinal) -> dict[tuple[int, ...], float]:
    """Count the patterns of one settled row by name: whole numbers but under ``random`` and ``average``."""
    if how.ties == "average":
        return _shared_out(named_counts(row, _with_ties(how, "dense")))
    if how.ties == "random":
        totals: Counter[tuple[int, ...]] = Counter()
        for ranks in broken_ties(row, how):
            totals.update(named_counts(ranks, _with_ties(how, "stable")))
        return {pattern: totals[pattern] / how.draws for pattern in sorted(totals)}
    labels = label_windows(row, how)
    _, first, counts = np.unique(labels.codes, return_index=True, return_counts=True)
    reach = np.arange(how.m) * how.delay
    names = [pattern_of(row[start + reach], how.ties) for start in labels.starts[first]]
    return dict(sorted(zip(names, counts.tolist(), strict=True)))


def broken_ties(row: NDArray[Any], how: Ordinal) -> Iterator[NDArray[Any]]:
    """Yield the ranks of the row with its ties broken at random, ``how.draws`` times; NaN stays NaN."""
    rng = np.random.default_rng(how.seed)
    gaps = np.isnan(row) if has_nan(row) else None
    for _ in range(how.draws):
        order = np.lexsort((rng.random(len(row)), row))
        ranks = np.empty(len(row), np.float64)
        ranks[order] = np.arange(len(row))
        if gaps is not None:
            ranks[gaps] = np.nan
        yield ranks


def random_orders(row: NDArray[Any], rng: np.random.Generator, draws: int) -> Iterator[NDArray[Any]]:
    """Yield the scores in random orders; NaN stays in its places.

    Examples:
        >>> [sorted(order.tolist()) for order in random_orders(np.array([3, 1]), np.random.default_rng(0), 2)]
        [[1, 3], [1, 3]]
    """
    filled = ~np.isnan(row) if has_nan(row) else np.ones(len(row), bool)
    values = row[filled]
    for _ in range(draws):
        order = row.copy()
        order[filled] = rng.permutation(values)
        yield order


def _with_ties(how: Ordinal, ties: Ties) -> Ordinal:
    return Ordinal(m=how.m, delay=how.delay, ties=ties, nan=how.nan)


def _without_ties(row: NDArray[Any], keep: NDArray[np.bool_], how: Ordinal) -> NDArray[np.bool_]:
    tied = tied_windows(row, how)
    bad = tied & keep
    if how.ties == "raise" and bad.any():
        raise ValueError(
            f"the window at {int(np.argmax(bad))} holds a tie; use another policy than ties='raise'"
        )
    if not (keep & ~tied).any():
        raise ValueError("every window holds a tie; use ties='dense' or 'stable' in place of 'drop'")
    return ~tied


def _nan_windows(row: NDArray[Any], how: Ordinal) -> NDArray[np.bool_]:
    windows = window_count(len(row), how.m, how.delay)
    gaps = np.isnan(row)
    hit: NDArray[np.bool_] = np.logical_or.reduce([gaps[j * how.delay :][:windows] for j in range(how.m)])
    return hit


def _weak_codes(row: NDArray[Any], how: Ordinal) -> NDArray[np.int64]:
    """Number weak orders: member j is known by how many before it are greater, and how many equal."""
    windows = window_count(len(row), how.m, how.delay)
    code = np.zeros(windows, np.int64)
    greater = np.zeros(len(row), np.int64)
    equal = np.zeros(len(row), np.int64)
    for j in range(1, how.m):
        lag = j * how.delay
        greater[lag:] += row[:-lag] > row[lag:]
        equal[lag:] += row[:-lag] == row[lag:]
        if j >= _WEAK_LIMIT:
            code = np.unique(code, return_inverse=True)[1]
        place = slice(lag, lag + windows)
        code = (code * (j + 1) + greater[place]) * (j + 1) + equal[place]
    return code


def _shared_out(weak: dict[tuple[int, ...], float]) -> dict[tuple[int, ...], float]:
    """Give each order that a tied pattern allows an equal part of its count."""
    totals: dict[tuple[int, ...], float] = {}
    for ranks, count in weak.items():
        groups = [[i for i, rank in enumerate(ranks) if rank == value] for value in range(max(ranks) + 1)]
        orders = list(product(*(permutations(group) for group in groups)))
        for order in orders:
            pattern = tuple(i for group in order for i in group)
            totals[pattern] = totals.get(pattern, 0.0) + count / len(orders)
    return dict(sorted(totals.items()))


def _weak_orders(m: int) -> int:
    counts = [1]
    for size in range(1, m + 1):
        choose_first = 1
        total = 0
        for taken in range(1, size + 1):
            choose_first = choose_first * (size - taken + 1) // taken
            total += choose_first * counts[size - taken]
        counts.append(total)
    return counts[m]

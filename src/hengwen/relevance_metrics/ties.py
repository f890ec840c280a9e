"""Number each window by its ordinal pattern, under each policy for ties, and count the transitions."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core import (
    SequenceResult,
    as_scores,
    check_choice,
    has_nan,
    pattern_codes,
    refuse_nan,
    window_count,
)
from hengwen.relevance_metrics.inversions import tied_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray


Ties = Literal["stable", "random", "average", "dense", "drop", "raise"]
NanPolicy = Literal["raise", "omit-window", "omit", "propagate"]
TIES: tuple[Ties, ...] = ("stable", "random", "average", "dense", "drop", "raise")
NAN_WAY_OUT = "drop it, or choose nan='omit-window', 'omit' or 'propagate'"
NAN_POLICIES: tuple[NanPolicy, ...] = ("raise", "omit-window", "omit", "propagate")
_MAX_AVERAGE_ORDER = 8
_MAX_WEAK_ORDER = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternOptions:
    """Length and delay of ordinal patterns, and the policies for ties and NaN."""

    m: int = 3
    delay: int = 1
    ties: Ties = "stable"
    nan: NanPolicy = "raise"
    seed: int = 0
    draws: int = 32
    """Number of random tie breaks for ``ties="random"``."""

    def __post_init__(self) -> None:
        whole_number("m", self.m, 2)
        whole_number("delay", self.delay)
        whole_number("draws", self.draws)
        check_choice("ties", self.ties, TIES)
        check_choice("nan", self.nan, NAN_POLICIES)
        if self.ties == "average" and self.m > _MAX_AVERAGE_ORDER:
            raise ValueError(
                f"ties='average' needs m of at most {_MAX_AVERAGE_ORDER}, got {self.m}; use 'random'"
            )

    @property
    def possible(self) -> int:
        """Number of possible patterns: m!, or the number of orders with ties under ``ties="dense"``."""
        return _weak_orders(self.m) if self.ties == "dense" else factorial(self.m)

    def resolve_nan(self, row: NDArray[Any]) -> NDArray[Any]:
        """Return the row after applying the NaN policy, which refuses, removes or keeps NaN."""
        if self.nan == "raise":
            refuse_nan(row, NAN_WAY_OUT)
        return row[~np.isnan(row)] if self.nan == "omit" and has_nan(row) else row


@dataclass(frozen=True, slots=True)
class Labels:
    """Start and pattern number (label) of each window that is used."""

    starts: NDArray[np.intp]
    codes: NDArray[Any]


def label_windows(row: NDArray[Any], options: PatternOptions) -> Labels:
    """Return the pattern number (label) of each window of a row to which ``resolve_nan`` was applied."""
    windows = window_count(len(row), options.m, options.delay)
    keep = ~_nan_windows(row, options) if has_nan(row) else np.ones(windows, bool)
    if not keep.any():
        raise ValueError("every window contains a NaN; use nan='omit' or fill in the scores")
    if options.ties in ("drop", "raise"):
        keep &= _without_ties(row, keep, options)
    codes = (
        _weak_codes(row, options) if options.ties == "dense" else pattern_codes(row, options.m, options.delay)
    )
    starts = np.flatnonzero(keep)
    return Labels(starts, codes if len(starts) == windows else codes[starts])


def tied_windows(row: NDArray[Any], options: PatternOptions) -> NDArray[np.bool_]:
    """Return, for each window, whether it contains two equal scores."""
    windows = window_count(len(row), options.m, options.delay)
    tied = np.zeros(windows, bool)
    for j in range(1, options.m):
        lag = j * options.delay
        equal = row[lag:] == row[:-lag]
        for first in range(options.m - j):
            tied |= equal[first * options.delay :][:windows]
    return tied


def pattern_of(window: NDArray[Any], ties: Ties) -> tuple[int, ...]:
    """Return the pattern of a window: the stable argsort, or the dense ranks under ``ties="dense"``."""
    if ties == "dense":
        ranks: list[int] = np.unique(window, return_inverse=True)[1].tolist()
        return tuple(ranks)
    order: list[int] = np.argsort(window, kind="stable").tolist()
    return tuple(order)


def named_counts(row: NDArray[Any], options: PatternOptions) -> dict[tuple[int, ...], float]:
    """Count the patterns of one row, to which the NaN policy is already applied."""
    if options.ties == "average":
        return _spread_ties(named_counts(row, _with_ties(options, "dense")))
    if options.ties == "random":
        totals: Counter[tuple[int, ...]] = Counter()
        for ranks in broken_ties(row, options):
            totals.update(named_counts(ranks, _with_ties(options, "stable")))
        return {pattern: totals[pattern] / options.draws for pattern in sorted(totals)}
    labels = label_windows(row, options)
    _, first, counts = np.unique(labels.codes, return_index=True, return_counts=True)
    reach = np.arange(options.m) * options.delay
    names = [pattern_of(row[start + reach], options.ties) for start in labels.starts[first]]
    return dict(sorted(zip(names, counts.tolist(), strict=True)))


def broken_ties(row: NDArray[Any], options: PatternOptions) -> Iterator[NDArray[Any]]:
    """Yield the ranks of the row with ties broken at random, ``options.draws`` times; NaN stays NaN."""
    rng = np.random.default_rng(options.seed)
    gaps = np.isnan(row) if has_nan(row) else None
    for _ in range(options.draws):
        order = np.lexsort((rng.random(len(row)), row))
        ranks = np.empty(len(row), np.float64)
        ranks[order] = np.arange(len(row))
        if gaps is not None:
            ranks[gaps] = np.nan
        yield ranks


def random_orders(row: NDArray[Any], rng: np.random.Generator, draws: int) -> Iterator[NDArray[Any]]:
    """Yield the scores in random orders; each NaN keeps its position."""
    filled = ~np.isnan(row) if has_nan(row) else np.ones(len(row), bool)
    values = row[filled]
    for _ in range(draws):
        order = row.copy()
        order[filled] = rng.permutation(values)
        yield order


def _with_ties(options: PatternOptions, ties: Ties) -> PatternOptions:
    return PatternOptions(m=options.m, delay=options.delay, ties=ties, nan=options.nan)


def _without_ties(row: NDArray[Any], keep: NDArray[np.bool_], options: PatternOptions) -> NDArray[np.bool_]:
    """Return whether each window has no ties; raise an error if ties are forbidden or no window is left."""
    tied = tied_windows(row, options)
    refused = tied & keep
    if options.ties == "raise" and refused.any():
        raise ValueError(
            f"the window at {int(np.argmax(refused))} contains a tie; use another policy than ties='raise'"
        )
    if not (keep & ~tied).any():
        raise ValueError("every window contains a tie; use ties='dense' or 'stable' instead of 'drop'")
    return ~tied


def _nan_windows(row: NDArray[Any], options: PatternOptions) -> NDArray[np.bool_]:
    windows = window_count(len(row), options.m, options.delay)
    gaps = np.isnan(row)
    missing: NDArray[np.bool_] = np.logical_or.reduce(
        [gaps[j * options.delay :][:windows] for j in range(options.m)]
    )
    return missing


def _weak_codes(row: NDArray[Any], options: PatternOptions) -> NDArray[np.int64]:
    """Return a code for the order of each window, in which equal scores stay equal."""
    windows = window_count(len(row), options.m, options.delay)
    code = np.zeros(windows, np.int64)
    greater = np.zeros(len(row), np.int64)
    equal = np.zeros(len(row), np.int64)
    for j in range(1, options.m):
        lag = j * options.delay
        greater[lag:] += row[:-lag] > row[lag:]
        equal[lag:] += row[:-lag] == row[lag:]
        if j >= _MAX_WEAK_ORDER:
            code = np.unique(code, return_inverse=True)[1]
        members = slice(lag, lag + windows)
        code = (code * (j + 1) + greater[members]) * (j + 1) + equal[members]
    return code


def _spread_ties(weak: dict[tuple[int, ...], float]) -> dict[tuple[int, ...], float]:
    """Divide the count of each pattern with ties equally among all orders that breaking the ties can give."""
    totals: dict[tuple[int, ...], float] = {}
    for ranks, count in weak.items():
        groups = [[i for i, rank in enumerate(ranks) if rank == value] for value in range(max(ranks) + 1)]
        orders = list(product(*(permutations(group) for group in groups)))
        for order in orders:
            pattern = tuple(i for group in order for i in group)
            totals[pattern] = totals.get(pattern, 0.0) + count / len(orders)
    return dict(sorted(totals.items()))


def _weak_orders(m: int) -> int:
    """Return the number of orders of m members with ties (a Fubini number)."""
    counts = [1]
    for size in range(1, m + 1):
        choose_first = 1
        total = 0
        for first in range(1, size + 1):
            choose_first = choose_first * (size - first + 1) // first
            total += choose_first * counts[size - first]
        counts.append(total)
    return counts[m]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transitions(SequenceResult):
    """Counts of transitions from the pattern of one window to the pattern of the next."""

    patterns: tuple[tuple[int, ...], ...]
    """The patterns that occur, sorted; they label the rows and columns of ``counts``."""
    counts: tuple[tuple[int, ...], ...]
    """``counts[i][j]`` is the number of transitions from pattern i to pattern j."""
    conditional_entropy: float
    """Entropy, in nats, of the next pattern given the current pattern; 0 if the current pattern determines
    the next."""
    windows: int
    """Number of windows with a pattern."""
    ties: Ties

    def probabilities(self) -> dict[tuple[int, ...], dict[tuple[int, ...], float]]:
        """Return the share of each next pattern, for each pattern that has a next one."""
        shares = {}
        for pattern, row in zip(self.patterns, self.counts, strict=True):
            total = sum(row)
            if total:
                steps = zip(self.patterns, row, strict=True)
                shares[pattern] = {after: count / total for after, count in steps if count}
        return shares


def ordinal_transitions(
    x: ArrayLike, m: int = 3, delay: int = 1, *, ties: Ties = "stable", nan: NanPolicy = "raise"
) -> Transitions:
    """Count the transitions from the ordinal pattern of a window to the pattern of the next window.

    The next window starts one score later.

    Args:
        x: One sequence of scores in order, enough for two windows.
        m: Number of scores in a window, at least 2.
        delay: Distance in positions between consecutive scores of a window; 1 means adjacent scores.
        ties: Policy for equal scores (ties), described in `permutation_entropy`: ``stable``, ``dense``,
            ``drop`` or ``raise``. A window that ``drop`` skips has no transitions.
        nan: Policy for NaN: ``raise`` an error, ``omit-window`` (skip windows with NaN; a skipped window has
            no transitions), or ``omit`` (remove NaN first).

    Raises:
        TypeError: A score is not a number.
        ValueError: There are no two consecutive windows, a score is NaN, or an option is unknown.

    Examples:
        >>> transitions = ordinal_transitions([1, 2, 1, 2, 3], m=2)
        >>> transitions.patterns, transitions.counts
        (((0, 1), (1, 0)), ((1, 1), (1, 0)))
        >>> transitions.probabilities()[(1, 0)]
        {(0, 1): 1.0}
    """
    check_choice("ties", ties, ("stable", "dense", "drop", "raise"))
    options = PatternOptions(m=m, delay=delay, ties=ties, nan=nan)
    row = as_single_sequence(x, options)
    labels = label_windows(row, options)
    _, first, index = np.unique(labels.codes, return_index=True, return_inverse=True)
    reach = np.arange(m) * delay
    names = [pattern_of(row[start + reach], ties) for start in labels.starts[first]]
    rank = np.argsort(np.array([sorted(names).index(name) for name in names]))
    position = np.argsort(rank)[index]
    following = np.flatnonzero(np.diff(labels.starts) == 1)
    if not len(following):
        raise ValueError("there are no two consecutive windows; add scores, or lower m or delay")
    kinds = len(names)
    cells = np.bincount(position[following] * kinds + position[following + 1], minlength=kinds * kinds)
    counts = cells.reshape(kinds, kinds).tolist()
    return Transitions(
        patterns=tuple(sorted(names)),
        counts=tuple(map(tuple, counts)),
        conditional_entropy=_conditional_entropy(counts),
        n=len(row),
        windows=len(labels.starts),
        tied_share=tied_share(row),
        m=m,
        delay=delay,
        ties=ties,
    )


def _conditional_entropy(counts: list[list[int]]) -> float:
    steps = sum(map(sum, counts))
    parts = [count / steps * math.log(sum(row) / count) for row in counts for count in row if count]
    return math.fsum(parts)


def as_single_sequence(x: ArrayLike, options: PatternOptions) -> NDArray[Any]:
    """Return one sequence after applying the policy for NaN."""
    scores = as_scores(x)
    if scores.ndim != 1:
        raise ValueError(f"scores must be one sequence, got shape {scores.shape}; pass one row at a time")
    if options.nan == "propagate" and has_nan(scores):
        raise ValueError("a score is NaN, and counts cannot be NaN; use nan='omit-window' or 'omit'")
    return options.resolve_nan(scores)

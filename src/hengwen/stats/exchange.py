"""Test differences by exchanging values within prompts.

The difference between one value and a mean of many is not symmetric, so its sign must not be flipped: at a
ceiling, equal checkpoints would differ. If nothing changed, the newest value of a prompt is exchangeable with
those of the earlier checkpoints. In the same way, two sets of answers exchange all answers to a prompt, to
compare a number for a whole set, such as diversity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MIN_DRAWS = 9999
DRAWS_BELOW_LEVEL = 20
"""Number of draws that may be more extreme at any level, however small; fewer make the p-value coarse."""
BLOCK = 512
"""Number of draws that are evaluated at once."""
TIE = 1e-9
"""Relative difference below which two statistics are equal."""


def exchange_test(
    values: Floats, clusters: Sequence[str], *, alpha: float = 0.05, plain: bool = False, seed: int = 0
) -> float:
    """Return the two-sided p-value of the last column (newest) against the columns before it."""
    # In each draw, every cluster of prompts exchanges its newest values with those of a column drawn at
    # random from all columns. The statistic is the sum of newest minus mean of the others, divided by its
    # root sum of squares over clusters unless `plain` (for pass or fail).
    sums, is_possible = _changes(np.asarray(values, np.float64), clusters)
    counts = is_possible.sum(axis=1)
    possible_first = np.argsort(~is_possible, axis=1, kind="stable")
    choices = np.take_along_axis(sums, possible_first, axis=1).ravel()
    rows = np.arange(len(sums)) * sums.shape[1]

    def statistic(changes: Floats) -> Floats:
        totals = np.abs(changes.sum(axis=1))
        if plain:
            return np.asarray(totals)
        norms = np.sqrt(np.square(changes).sum(axis=1))
        return np.asarray(np.divide(totals, norms, out=np.zeros_like(totals), where=norms > 0))

    observed = float(statistic(sums[:, -1][None, :])[0])
    least = observed * (1 - TIE)
    draws = draws_for(alpha)
    generator = np.random.default_rng(seed)
    extreme = 1
    for start in range(0, draws, BLOCK):
        picks = generator.integers(0, counts, (min(BLOCK, draws - start), len(sums)))
        extreme += int((statistic(choices.take(rows + picks)) >= least).sum())
    return extreme / (draws + 1)


def draws_for(alpha: float) -> int:
    """Return the number of draws of a test at a level."""
    return max(MIN_DRAWS, ceil(DRAWS_BELOW_LEVEL / alpha))


def _changes(values: Floats, clusters: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the change of each cluster if each column were the newest, and whether it can be."""
    scored = ~np.isnan(values)
    filled = np.where(scored, values, 0.0)
    others = scored.sum(axis=1, keepdims=True) - scored
    is_possible = scored & (others > 0)
    means = (filled.sum(axis=1, keepdims=True) - filled) / np.maximum(others, 1)
    changes = np.where(is_possible, filled - means, 0.0)
    largest = float(np.abs(filled).max(initial=0.0))
    changes[np.abs(changes) <= 1e-12 * largest] = 0.0
    names = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    codes = np.array([names[name] for name in clusters], np.intp)
    sums, possible = (
        np.zeros((len(names), values.shape[1])),
        np.zeros((len(names), values.shape[1]), np.bool_),
    )
    np.add.at(sums, codes, changes)
    np.logical_or.at(possible, codes, is_possible)
    kept = possible[:, -1]
    return sums[kept], possible[kept]


MIN_UNITS = 6
"""Fewest prompts (clusters) for an interval or a test."""
EXACT_UP_TO = 12
"""Largest number of prompts for which all exchanges are counted."""
ENOUGH_EXCEEDED = 30
"""Random exchanges end when this number of them is at least as far apart as the two sets: the p-value is then
large, and known well enough (Besag and Clifford 1991)."""
SET_BLOCK = 200
"""Number of exchanges that are made at a time."""
SET_BLOCK_ELEMENTS = 8_000_000
"""Maximum number of counts in memory at the same time."""


class SetStatistic(NamedTuple):
    """A number for a set, computed from a sum over its items."""

    term: Callable[[NDArray[Any]], NDArray[Any]]
    """What an item adds to the sum, from its count; 0 for a count of 0."""
    value: Callable[[Floats, Floats], Floats]
    """The number, from the sum of the terms and the sum of the counts."""

    def __call__(self, counts: NDArray[Any]) -> Floats:
        """Return the number for each set, from counts in shape (sets, items)."""
        return self.value(self.term(counts).sum(axis=1), counts.sum(axis=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeTest:
    """Result of the test whether a number for a whole set of answers differs between two sets."""

    first: float
    second: float
    p: float
    """Two-sided p-value, in (0, 1]."""
    units: int
    """Number of exchanged prompts (clusters)."""
    error: float
    """Root mean square of the differences after exchanges: the standard error if nothing differs."""

    @property
    def difference(self) -> float:
        """Value of the second set minus that of the first."""
        return self.second - self.first


def jackknife_interval(
    value: float, without: Sequence[float], confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return the t interval of a value, from the values of the set without each prompt in turn."""
    n = len(without)
    if n < MIN_UNITS:
        return None
    from scipy.special import stdtrit

    values = np.asarray(without, dtype=float)
    error = float(np.sqrt((n - 1) / n * np.square(values - values.mean()).sum()))
    half = float(stdtrit(n - 1, 0.5 + confidence / 2)) * error
    return value - half, value + half


def set_exchange_test(
    first: Any, second: Any, statistic: SetStatistic, *, draws: int = 1999, seed: int = 0
) -> ExchangeTest | None:
    """Test whether a statistic of two sets differs; None below ``MIN_UNITS`` prompts or 2 items."""
    # `first` and `second` are sparse matrices of shape (prompts, items): counts of each item, such as an
    # n-gram. All exchanges, or random ones with the identity, show how far the statistics lie apart if
    # nothing differs.
    n, items = first.shape
    if n < MIN_UNITS or min(first.sum(), second.sum()) < 2:  # the entropy of one item is 0 of 0
        return None
    if n <= EXACT_UP_TO:
        flips = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float32)
    else:
        flips = np.random.default_rng(seed).integers(0, 2, (draws + 1, n)).astype(np.float32)
        flips[0] = 0
    shared = np.bincount((first + second).indices, minlength=items) > 1
    # an item of one prompt only changes place with it: what it adds is a sum over prompts
    alone = [_per_item(statistic, side) @ (~shared).astype(np.float64) for side in (first, second)]
    totals = [np.asarray(side.sum(axis=1), np.float64).ravel() for side in (first, second)]
    kept = [side[:, shared] for side in (first, second)]
    moved = (kept[1] - kept[0]).T.tocsr()  # (items, prompts), so that a block is one product
    sums = [np.asarray(side.sum(axis=0), dtype=np.float32).reshape(-1, 1) for side in kept]
    size = min(SET_BLOCK, max(1, SET_BLOCK_ELEMENTS // max(moved.shape[0], 1)))
    observed, drawn, exceeded, squares = 0.0, 0, 0, 0.0
    for start in range(0, len(flips), size):
        block = flips[start : start + size].T
        change = moved @ block
        earlier, later = (
            statistic.value(
                statistic.term(sums[side] + sign * change).sum(axis=0, dtype=np.float64)
                + alone[side].sum()
                + sign * ((alone[1] - alone[0]) @ block),
                totals[side].sum() + sign * ((totals[1] - totals[0]) @ block),
            )
            for side, sign in ((0, 1), (1, -1))
        )
        apart = np.abs(later - earlier)
        observed = observed or float(apart[0]) * (1 - 1e-9) - 1e-12
        exceeded += int((apart >= observed).sum())
        drawn += len(apart)
        squares += float(np.square(apart, dtype=np.float64).sum())
        if n > EXACT_UP_TO and exceeded >= ENOUGH_EXCEEDED:
            break
    p = exceeded / drawn
    first_value, second_value = (
        float(statistic(np.asarray(side.sum(axis=0)).reshape(1, -1))[0]) for side in (first, second)
    )
    error = (squares / drawn) ** 0.5
    return ExchangeTest(first=first_value, second=second_value, p=p, units=n, error=error)


def _per_item(statistic: SetStatistic, counts: Any) -> Any:
    """Return what each item of each prompt adds to the sum of a statistic, as a sparse matrix."""
    terms = counts.copy()
    terms.data = statistic.term(terms.data).astype(np.float64)
    return terms


def _times_its_log(counts: NDArray[Any]) -> NDArray[Any]:
    terms: NDArray[Any] = counts * np.log2(counts, where=counts > 0.5, out=np.zeros_like(counts))
    return terms


distinct_share = SetStatistic(lambda counts: counts > 0.5, np.divide)
"""The share of distinct items among all items of each set."""
normalised_entropy = SetStatistic(
    _times_its_log, lambda terms, total: (np.log2(total) - terms / total) / np.log2(total)
)
"""The entropy of the items of each set, divided by its largest possible value."""

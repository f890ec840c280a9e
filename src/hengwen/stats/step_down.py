"""Test many pairs of checkpoints as one family: step-down maximum over joint sign flips.

If two checkpoints are equally good, the difference of a prompt is as likely positive as negative. A flip
gives every prompt (every cluster of prompts) a random sign, the same one in all pairs and scores of its task;
so the reference distribution has the correlations of the data. The step-down procedure is that of Westfall
and Young (1993).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hengwen.stats.exchange import draws_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

MIN_UNITS = 6
"""Minimum number of common clusters of a pair; with fewer, no p-value is as small as .05."""
MAX_EXACT_BITS = 13
"""All flips are counted up to 2^13; of more, ``draws_for`` says how many are drawn. A flip and the one with
all opposite signs in a task count as one."""
BLOCK = 512
"""Maximum number of flips that are evaluated at once."""
MAX_BLOCK_VALUES = 2_000_000
"""Maximum number of values in one array of a block."""
NORMAL_FROM = 2000
"""Number of clusters of a task above which normal variables replace its random signs."""
MAX_SHARE = 1 - 1e-9
"""Maximum of T^2 / n; if all differences are equal, the t value would otherwise be infinite."""
NEVER_SIGNIFICANT = 3 / 32
"""A sum of random signs is at least one standard deviation from 0 with at least this probability."""
TIE = 1e-7
"""Statistics with a smaller relative difference are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyScore:
    """The values of one score, and the pairs of checkpoints to test."""

    task: str
    """Signs flip together in all scores of a task; different tasks flip independently."""
    clusters: Sequence[str]
    """The cluster of each prompt (row)."""
    values: Floats
    """Value of each prompt (row) in each column; NaN if missing."""
    pairs: Sequence[tuple[int | None, int]]
    """Columns (earlier, later) to compare; without an earlier one, the later column holds differences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDown:
    """Results of all pairs, in the order of the scores and of their pairs."""

    units: Ints
    """Number of common clusters of each pair."""
    is_tested: NDArray[np.bool_]
    """Whether a pair has enough common clusters to be in the family."""
    p: Floats
    """Two-sided p-value of each pair alone, from the same flips; 1 outside the family."""
    p_adjusted: Floats
    """p-value corrected for the family; 1 outside the family."""
    critical: Floats
    """Critical value of each pair at its step, as a t value with ``units - 1`` degrees of freedom; infinite
    outside the family. Pairs that are not significant have that of the step at which the procedure ends."""
    is_too_few: NDArray[np.bool_]
    """Whether a pair could not have been significant, even if all its differences had the same sign."""


def step_down(scores: Sequence[FamilyScore], alpha: float = 0.05, *, seed: int = 0) -> StepDown:
    """Test pairs of checkpoints in several scores, with a familywise error of at most ``alpha``."""
    sizes = [len(score.pairs) for score in scores]
    places = np.split(np.arange(sum(sizes)), np.cumsum(sizes))
    tasks = [
        _Task.of(
            [(score, position) for score, position in zip(scores, places, strict=False) if score.task == name]
        )
        for name in sorted({score.task for score in scores if len(score.pairs)})
    ]
    result = StepDown(
        units=np.zeros(sum(sizes), np.intp),
        is_tested=np.zeros(sum(sizes), np.bool_),
        p=np.ones(sum(sizes)),
        p_adjusted=np.ones(sum(sizes)),
        critical=np.full(sum(sizes), np.inf),
        is_too_few=np.ones(sum(sizes), np.bool_),
    )
    if not tasks:
        return result
    pairs = _joined([task.pairs for task in tasks], [task.columns.shape[1] for task in tasks])
    result.units[pairs.places] = pairs.units
    family = pairs.take(np.flatnonzero(pairs.units >= MIN_UNITS))
    if not len(family.places):
        return result
    family = family.take(np.argsort(-family.statistic(family.totals), kind="stable"))
    p, p_adjusted, critical = _flip([task.columns for task in tasks], family, alpha, seed)
    # random flips may put a p-value below the smallest one that is possible
    p = np.minimum(1.0, np.maximum(p, family.smallest_p))
    p_adjusted = np.maximum.accumulate(np.maximum(p_adjusted, p))
    critical = np.where(p_adjusted > alpha, np.maximum(critical, family.statistic(family.totals)), critical)
    result.is_tested[family.places] = True
    result.p[family.places], result.p_adjusted[family.places] = p, p_adjusted
    result.critical[family.places] = family.as_t(critical)
    result.is_too_few[family.places] = family.largest_statistic <= critical * (1 + TIE)
    return result


class _Pairs(NamedTuple):
    """Pairs of columns, with what does not change if signs flip."""

    places: Ints
    """Place of each pair among the results."""
    earlier: Ints
    """Index of the column with the earlier values; -1 if the later column holds differences."""
    later: Ints
    units: Ints
    totals: Floats
    """Sum of the differences."""
    squares: Floats
    """Sum over clusters of the squared sum of differences."""
    changed: Ints
    """Number of clusters whose differences do not sum to 0."""
    reach: Floats
    """Sum over clusters of the absolute sum of differences: the largest total of any flip."""

    def take(self, indexes: Ints) -> _Pairs:
        """Return some of the pairs, in this order."""
        taken: list[NDArray[Any]] = [values[indexes] for values in self]
        return _Pairs(*taken)

    @property
    def smallest_p(self) -> Floats:
        """The p-value if all differences had the same sign: two of all patterns of signs are as extreme."""
        return np.asarray(np.exp2(1.0 - self.changed))

    @property
    def factor(self) -> Floats:
        """Factor c in z^2 = -c log(1 - T^2 / n), the squared normal quantile of t, after Wallace (1959)."""
        # With 5 or more degrees of freedom, z is right to .5 % up to t = 4.
        freedom = self.units - 1.0
        return np.asarray(np.square((8 * freedom + 1) / (8 * freedom + 3)) * freedom)

    def statistic(self, totals: Floats) -> Floats:
        """Return z^2 of totals of differences."""
        divisor = np.where(self.squares > 0, self.units * self.squares, np.inf)
        return np.asarray(-self.factor * np.log(1 - np.minimum(np.square(totals) / divisor, MAX_SHARE)))

    @property
    def largest_statistic(self) -> Floats:
        """The statistic if all differences had the same sign; if all are 0, if all were equal."""
        return np.where(self.squares > 0, self.statistic(self.reach), -self.factor * np.log(1 - MAX_SHARE))

    def as_t(self, statistic: Floats) -> Floats:
        """Return t values of statistics."""
        return np.asarray(np.sqrt((self.units - 1) * np.expm1(statistic / self.factor)))


def _joined(parts: Sequence[_Pairs], columns: Sequence[int]) -> _Pairs:
    """Join pairs of several sets of columns, which stand one after the other."""
    starts = np.cumsum([0, *columns])
    moved = [
        part._replace(earlier=np.where(part.earlier < 0, -1, part.earlier + start), later=part.later + start)
        for part, start in zip(parts, starts, strict=False)
    ]
    return _Pairs(*map(np.concatenate, zip(*moved, strict=True)))


class _Task(NamedTuple):
    """The scores of one task, whose signs flip together."""

    columns: Floats
    """Sum of the values of each cluster (row) in each column, up to a constant for each cluster."""
    pairs: _Pairs

    @classmethod
    def of(cls, scores: Sequence[tuple[FamilyScore, Ints]]) -> _Task:
        """Return the cluster sums of the scores of a task, each with the places of its pairs."""
        names = sorted({name for score, _ in scores for name in score.clusters})
        index = {name: number for number, name in enumerate(names)}
        columns, pairs = [], []
        for score, places in scores:
            codes = np.array([index[name] for name in score.clusters], np.intp)
            sums, of_score = _cluster_sums(score, places, codes, len(names))
            columns.append(sums)
            pairs.append(of_score)
        return cls(np.concatenate(columns, axis=1), _joined(pairs, [item.shape[1] for item in columns]))


def _cluster_sums(score: FamilyScore, places: Ints, codes: Ints, clusters: int) -> tuple[Floats, _Pairs]:
    """Return the sums of each cluster in each column, and the pairs of a score."""
    values = _rounded(score.values)
    earlier = np.array([-1 if first is None else first for first, _ in score.pairs], np.intp)
    later = np.array([second for _, second in score.pairs], np.intp)
    is_missing = np.isnan(values)
    if is_missing.any():  # then each pair has its own prompts, and its differences are a column
        values = values[:, later] - np.where(earlier < 0, 0.0, values[:, earlier])
        is_missing = np.isnan(values)
        values = np.where(is_missing, 0.0, values)
        earlier, later = np.full(len(later), -1), np.arange(len(later))
    elif (earlier >= 0).all():
        values = values - values[:, :1]  # equal values stay equal, and rows without any difference become 0
    sums = np.zeros((clusters, values.shape[1]))
    np.add.at(sums, codes, values)
    units = np.full(len(later), len(np.unique(codes)), np.intp)
    if is_missing.any():
        scored = np.zeros(sums.shape)
        np.add.at(scored, codes, ~is_missing)
        units = (scored > 0).sum(axis=0)
    totals, squares, reach = (np.empty(len(later)) for _ in range(3))
    changed = np.zeros(len(later), np.intp)
    for pair, (first, second) in enumerate(zip(earlier, later, strict=True)):  # not all pairs in memory
        differences = sums[:, second] - (0.0 if first < 0 else sums[:, first])
        totals[pair] = differences.sum()
        squares[pair] = differences @ differences
        reach[pair] = np.abs(differences).sum()
        changed[pair] = np.count_nonzero(differences)
    return sums, _Pairs(places, earlier, later, units, totals, squares, changed, reach)


def _rounded(values: Floats) -> Floats:
    """Return values with 12 digits of the largest, because means of equal values may differ."""
    # a power of 2 changes no test, and the squares of very small or large values would be 0 or infinite
    exponent = int(np.frexp(np.nanmax(np.abs(values), initial=0.0))[1])
    return np.asarray(np.ldexp(values, -exponent).round(12))


def _flip(tasks: Sequence[Floats], family: _Pairs, alpha: float, seed: int) -> tuple[Floats, Floats, Floats]:
    """Return p-values, adjusted p-values and critical statistics of pairs, largest statistic first."""
    size = len(family.places)
    is_equal = bool((family.units == family.units[0]).all())  # then T^2 / n has the order of the statistic
    weights = np.zeros((size, 1))
    np.divide(1.0, family.units * family.squares, out=weights[:, 0], where=family.squares > 0)
    factor = -family.factor[:, None]

    def to_statistic(totals: Floats) -> Floats:
        """Replace totals by what is compared."""
        np.square(totals, out=totals)
        np.multiply(totals, weights, out=totals)
        np.minimum(totals, MAX_SHARE, out=totals)
        return totals if is_equal else np.multiply(factor, np.log(1 - totals), out=totals)

    least = to_statistic(family.totals[:, None].copy()) * (1 - TIE)
    possible = int((np.square(family.totals) > family.squares).sum())
    steps = size if alpha >= NEVER_SIGNIFICANT else min(size, possible + 1)
    alone, largest = np.zeros(size, np.intp), np.zeros(size, np.intp)
    tops: list[Floats] = []
    flips = kept = 0
    for sums, total in _flipped_sums(tasks, size, alpha, seed):
        values = sums[family.later]
        values -= sums[family.earlier]
        if not flips:
            values[:, 0] = family.totals
        values = to_statistic(values)
        alone += (values >= least).sum(axis=1)
        for step in range(size - 2, -1, -1):
            np.maximum(values[step], values[step + 1], out=values[step])
        largest += (values >= least).sum(axis=1)
        flips += values.shape[1]
        kept = int(alpha * total * (1 + 1e-12)) + 1
        tops.append(values[:steps].copy())
        if sum(item.shape[1] for item in tops) > 4 * kept or flips == total:
            top = np.concatenate(tops, axis=1)
            tops = [np.partition(top, -kept, axis=1)[:, -kept:].copy() if top.shape[1] > kept else top]
    adjusted = np.maximum.accumulate(largest / flips)
    significant = int((adjusted <= alpha).sum())
    limits = tops[0].min(axis=1)
    if is_equal:
        limits = -family.factor[0] * np.log(1 - limits)
    return (
        alone / flips,
        adjusted,
        limits[np.minimum(np.arange(size), min(significant, steps - 1))],
    )


def _flipped_sums(
    tasks: Sequence[Floats], pairs: int, alpha: float, seed: int
) -> Iterator[tuple[Floats, int]]:
    """Yield blocks of flips as the sum of each column in each flip, with the number of all flips."""
    # The last row is 0. The first flip of all changes no sign.
    moved = [columns[(columns != 0).any(axis=1)] for columns in tasks]
    bits = sum(max(0, len(columns) - 1) for columns in moved)
    is_exact = bits <= MAX_EXACT_BITS
    total = 2**bits if is_exact else 1 + draws_for(alpha)
    factors = [_normal_factor(columns) if len(columns) > NORMAL_FROM else columns for columns in moved]
    width = max(pairs, *(len(factor) for factor in factors), 1)
    size = max(1, min(BLOCK, MAX_BLOCK_VALUES // width))
    generator = np.random.default_rng(seed)
    for start in range(0, total, size):
        count = min(size, total - start)
        rows, bit = [], 0
        for columns, factor in zip(moved, factors, strict=True):
            if is_exact:
                free = max(0, len(columns) - 1)
                patterns = np.arange(start, start + count) >> np.arange(bit, bit + free)[:, None]
                signs = np.concatenate((np.ones((len(columns) - free, count)), 1.0 - 2 * (patterns & 1)))
                bit += free
            elif len(columns) > NORMAL_FROM:
                signs = generator.standard_normal((len(factor), count))
            else:
                signs = 1.0 - 2 * generator.integers(0, 2, (len(factor), count), np.int8)
            rows.append(factor.T @ signs)
        yield np.concatenate((*rows, np.zeros((1, count)))), total


def _normal_factor(columns: Floats) -> Floats:
    """Return a square factor whose products with normal variables have the covariance of flipped columns."""
    roots, directions = np.linalg.eigh(columns.T @ columns)
    return np.asarray((directions * np.sqrt(np.maximum(roots, 0.0))).T)

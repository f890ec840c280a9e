"""The values of one score at many checkpoints: of all repeats, and of each prompt with the pairs to test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, compress, zip_longest
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hengwen.records import Kind, Reducer, Scale
from hengwen.results.aggregate import reduce_repeats
from hengwen.results.comparability import ComparabilityKey
from hengwen.results.coverage import (
    MIN_COVERAGE,
    Answers,
    Coverage,
    answers_by_prompt,
    coverages,
    usual_number,
)
from hengwen.results.score_table import NOT_APPLICABLE, Column, ScoreTable, SeriesKey
from hengwen.score_id import ScoreId
from hengwen.stats.checkpoints import fill_missing
from hengwen.stats.mean_interval import Bounds, unseen_reach
from hengwen.stats.power import detectable_difference
from hengwen.stats.step_down import FamilyScore

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hengwen.results.paired_values import PairedValues

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

MAX_ALL_PAIRS = 40
"""Maximum number of checkpoints of which all pairs are tested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSeries:
    """The values of one score at checkpoints in training order, and the pairs of checkpoints to test."""

    address: str
    """``TASK/SCORE``."""
    task: str
    scale: Scale | None
    clusters: Sequence[str]
    """The cluster of each prompt: a group of prompts that depend on each other."""
    values: Floats
    """Value of each prompt (row) at each checkpoint; NaN if missing."""
    pairs: Sequence[tuple[int, int]]
    """Indices of the checkpoints (earlier, later)."""
    differences: Floats | None = None
    """Difference of each prompt (row) in each pair, if checkpoints have different numbers of repeats."""
    coverages: Sequence[float] = ()
    """For each checkpoint, the share of prompts or of answers that have a value, whichever is lower."""

    @classmethod
    def of_two(cls, address: str, task: str, scale: Scale | None, values: PairedValues) -> ScoreSeries:
        """Return the pair of two checkpoints."""
        return cls(
            address=address,
            task=task,
            scale=scale,
            clusters=values.clusters,
            values=np.column_stack((values.before, values.after)),
            pairs=((0, 1),),
        )

    def for_family(self) -> FamilyScore:
        """Return the values and pairs as columns."""
        if self.differences is None:
            return FamilyScore(
                task=self.task, clusters=self.clusters, values=self.values, pairs=[*self.pairs]
            )
        columns = [(None, index) for index in range(len(self.pairs))]
        return FamilyScore(task=self.task, clusters=self.clusters, values=self.differences, pairs=columns)

    def of_pair(self, position: int) -> tuple[Floats, list[str] | None]:
        """Return the differences of the common prompts of a pair, and their clusters if prompts share one."""
        if self.differences is None:
            return self.between(*self.pairs[position])
        return self._of_common(self.differences[:, position])

    def between(self, earlier: int, later: int) -> tuple[Floats, list[str] | None]:
        """Return the differences of the common prompts of two checkpoints, from all of their repeats."""
        return self._of_common(self.values[:, later] - self.values[:, earlier])

    def _of_common(self, differences: Floats) -> tuple[Floats, list[str] | None]:
        is_common = ~np.isnan(differences)
        clusters = list(compress(self.clusters, is_common.tolist()))
        return differences[is_common], clusters if len(set(clusters)) < len(clusters) else None

    def reach(self) -> float | None:
        """Return how far prompts that are not in the sample may differ; None if nothing tells."""
        largest = max(float(np.abs(self.of_pair(position)[0]).max()) for position in range(len(self.pairs)))
        return unseen_reach([largest], self.bounds, continuous=self.is_continuous)

    def detectable(self, position: int, level: float) -> float | None:
        """Return the smallest difference of a pair that a test of this level detects, if it is known."""
        differences, clusters = self.of_pair(position)
        return detectable_difference(
            differences, clusters, level, span=self.span, continuous=self.is_continuous
        )

    @property
    def is_scored(self) -> NDArray[np.bool_]:
        """Whether each prompt (row) has a value at each checkpoint."""
        return ~np.isnan(self.values)

    @property
    def bounds(self) -> Bounds | None:
        """The lowest and the highest value of the scale; None if it is not known."""
        return None if self.scale is None else (self.scale.low, self.scale.high)

    @property
    def span(self) -> float:
        """Range of the scale, which no difference exceeds; infinite if the scale is not known."""
        return inf if self.scale is None else self.scale.high - self.scale.low

    @property
    def is_continuous(self) -> bool:
        """Whether values are not restricted to levels; True if the scale is not known."""
        return self.scale is None or not self.scale.discrete


def pairs_to_test(means: Sequence[float], higher_is_better: bool) -> list[tuple[int, int]]:
    """Return the pairs of checkpoints to test, by their means; a checkpoint without values has NaN."""
    # of many checkpoints, each is compared with the best one before it, and the last with all
    last = len(means) - 1
    pairs = list(combinations(range(len(means)), 2))
    if last < MAX_ALL_PAIRS:
        return pairs
    best, sign = -1, 1 if higher_is_better else -1
    kept = {(earlier, last) for earlier in range(last)}
    for later, mean in enumerate(means):
        kept.add((best, later))
        if not np.isnan(mean) and (best < 0 or sign * (mean - means[best]) > 0):
            best = later
    return [pair for pair in pairs if pair in kept]


class _Repeats(NamedTuple):
    """Values of one score at one checkpoint, sorted by prompt and repeat."""

    prompts: NDArray[np.int32]
    values: Floats


@dataclass(slots=True)
class ScoreMatrix:
    """Values of one score by prompt, checkpoint and repeat; a group of answers is a prompt without a name."""

    reducer: Reducer = "mean"
    higher_is_better: bool = True
    is_group_score: bool = False
    keys: list[ComparabilityKey | None] = field(default_factory=list)
    """For each checkpoint, the data behind the score; None if it does not have the score."""
    signatures: list[str] = field(default_factory=list)
    """For each checkpoint, the signature of the scorer."""
    _codes: dict[str, int] = field(default_factory=dict)
    _clusters: list[str] = field(default_factory=list)
    _repeats: list[_Repeats] = field(default_factory=list)
    _answers: list[Mapping[str, Answers]] = field(default_factory=list)
    """For each checkpoint, the number of answers to each prompt to which the score applies."""
    _not_applicable: list[frozenset[str]] = field(default_factory=list)
    """For each checkpoint, the names of prompts to which the score does not apply."""

    @property
    def prompts(self) -> tuple[str, ...]:
        """Names of the prompts, in order of appearance."""
        return tuple(self._codes)

    @property
    def clusters(self) -> tuple[str, ...]:
        """Cluster of each prompt, in the order of ``prompts``."""
        return tuple(self._clusters)

    def add(self, column: Column | None, key: ComparabilityKey | None = None) -> None:
        """Append a checkpoint, whose scores and failures are in a column; None if it has no score."""
        self.signatures.append(" + ".join(sorted(column.signatures)) if column else "")
        self.keys.append(key)
        column = column or Column()
        names, indexes = column.keys.prompts
        applies = np.frombuffer(column.codes, np.uint8) != NOT_APPLICABLE
        _, first = np.unique(indexes[applies], return_index=True)
        for row in np.flatnonzero(applies)[np.sort(first)].tolist():
            name = column.sample_ids[row]
            self.is_group_score = self.is_group_score or name is None
            if self._codes.setdefault(name or "", len(self._codes)) == len(self._clusters):
                self._clusters.append(column.clusters[row])
        is_scored = column.is_scored
        codes = np.array([self._codes.get(name or "", -1) for name in names], np.int32)
        prompts = codes[indexes[is_scored]]
        repeats = [repeat or 0 for repeat in compress(column.repeats, is_scored.tolist())]
        order = np.lexsort((np.array(repeats, np.int64), prompts))
        self._repeats.append(_Repeats(prompts[order], column.array[is_scored][order]))
        self._answers.append({name or "": counts for name, counts in answers_by_prompt(column).items()})
        self._not_applicable.append(
            frozenset(names[index] or "" for index in np.unique(indexes[~applies]).tolist())
        )
        if len(column):
            self.reducer = column.reducer
        if column.scale is not None:
            self.higher_is_better = column.scale.higher_is_better

    def series(self, score: ScoreId, scale: Scale | None, shares: Sequence[float]) -> ScoreSeries | None:
        """Return the prompts that have a value, and the pairs of comparable checkpoints; None without any.

        ``shares`` are the coverages of the checkpoints.
        """
        table, rows = self.means(), np.argsort(self.prompts)
        rows = rows[~np.isnan(table[rows]).all(axis=1)]
        if self.is_group_score or not len(rows):
            return None
        values = table[rows]
        means = [float(known.mean()) if len(known) else np.nan for known in map(_known, values.T)]
        pairs = [
            (earlier, later)
            for earlier, later in pairs_to_test(means, scale is None or scale.higher_is_better)
            if min(shares[earlier], shares[later]) >= MIN_COVERAGE
            and self._same_scoring(earlier, later)
            and len(_known(values[:, later] - values[:, earlier]))
        ]
        return ScoreSeries(
            address=score.address,
            task=score.task,
            scale=scale,
            clusters=[self._clusters[row] for row in rows],
            values=values,
            pairs=pairs,
            differences=self.differences(pairs)[rows] if self.has_unequal_repeats() else None,
            coverages=shares,
        )

    def _same_scoring(self, earlier: int, later: int) -> bool:
        before, after = self.keys[earlier], self.keys[later]
        if self.signatures[earlier] != self.signatures[later]:
            return False
        return before is None or after is None or not before.differences(after)

    def coverages(self, among: Sequence[int] | None = ()) -> list[Coverage]:
        """Return each checkpoint's shares of the prompts and answers that those ``among`` them have.

        If ``among`` is None, of its own prompts and of the answers that any checkpoint has to these.
        """
        known = dict.fromkeys(name for index in among or () for name in self._answers[index])
        runs = []
        for own, names in zip(self._answers, self._not_applicable, strict=True):
            none = Answers(0, usual_number(own))
            runs.append({**dict.fromkeys((name for name in known if name not in names), none), **own})
        return coverages(runs, among)

    def counts(self, checkpoints: Sequence[int] | None = None) -> Ints:
        """Return how many repeats of each prompt have a value, shape (prompts, checkpoints)."""
        chosen = self._chosen(checkpoints)
        counts = [np.bincount(item.prompts, minlength=len(self._codes)) for item in chosen]
        return np.stack(counts, axis=1).astype(np.int64)

    def means(self, limits: Ints | None = None, checkpoints: Sequence[int] | None = None) -> Floats:
        """The value of each prompt at each checkpoint, shape (prompts, checkpoints); NaN if missing."""
        columns = [self._reduced(item, limits) for item in self._chosen(checkpoints)]
        return np.stack(columns, axis=1)

    def has_unequal_repeats(self, checkpoints: Sequence[int] | None = None) -> bool:
        """Return whether a prompt has different numbers of repeats at the checkpoints that have a value."""
        counts = self.counts(checkpoints)
        return bool(((counts > 0) & (counts < counts.max(axis=1, keepdims=True))).any())

    def differences(self, pairs: Sequence[tuple[int, int]]) -> Floats:
        """Return later minus earlier value of each prompt (row) in each pair, from equally many repeats."""
        counts = self.counts()
        columns = [np.empty((len(self._codes), 0))]
        for pair in pairs:
            values = self.means(counts[:, list(pair)].min(axis=1), pair)
            columns.append(values[:, 1:] - values[:, :1])
        return np.concatenate(columns, axis=1)

    def repeat_variance(self, checkpoints: Sequence[int] | None = None) -> float | None:
        """Return the variance of the repeats of a prompt, pooled over prompts and checkpoints."""
        if self.reducer != "mean":
            return None
        squares, freedom = 0.0, 0
        for item in self._chosen(checkpoints):
            counts = np.bincount(item.prompts, minlength=len(self._codes))
            means = self._reduced(item, None)
            squares += float(np.square(item.values - means[item.prompts]).sum())
            freedom += int(np.maximum(counts - 1, 0).sum())
        return squares / freedom if freedom else None

    def _chosen(self, checkpoints: Sequence[int] | None) -> list[_Repeats]:
        return self._repeats if checkpoints is None else [self._repeats[index] for index in checkpoints]

    def _reduced(self, item: _Repeats, limits: Ints | None) -> Floats:
        """Return the value of each prompt at one checkpoint; NaN if the prompt has none."""
        size = len(self._codes)
        prompts, values = item
        if limits is not None:
            starts = np.searchsorted(prompts, prompts, side="left")
            kept = np.arange(len(prompts)) - starts < limits[prompts]
            prompts, values = prompts[kept], values[kept]
        counts = np.bincount(prompts, minlength=size)
        result = np.full(size, np.nan)
        scored = counts > 0
        if self.reducer == "mean":
            result[scored] = np.bincount(prompts, weights=values, minlength=size)[scored] / counts[scored]
            return result
        cells = np.split(values, np.cumsum(counts[scored])[:-1]) if scored.any() else []
        result[scored] = [
            reduce_repeats(cell.tolist(), self.reducer, higher_is_better=self.higher_is_better)
            for cell in cells
        ]
        return result


def adjusted_means(table: Floats) -> Floats:
    """Return the mean of each checkpoint, as if every prompt had a value at every checkpoint."""
    table = table[~np.isnan(table).all(axis=1)]
    return np.asarray(fill_missing(table).mean(axis=0), np.float64)


def score_series(
    table: ScoreTable,
    run_ids: Sequence[str],
    score: ScoreId,
    kind: Kind,
    keys: Sequence[ComparabilityKey] = (),
) -> ScoreSeries | None:
    """Return the value of each prompt for one score in several runs; None if no prompt has a value."""
    matrix = ScoreMatrix()
    columns = [table.series.get(SeriesKey(run_id, score, kind)) for run_id in run_ids]
    for column, key in zip_longest(columns, keys):
        matrix.add(column, key)
    scale = next((column.scale for column in columns if column and column.scale), None)
    return matrix.series(score, scale, [coverage.least for coverage in matrix.coverages(None)])


def _known(values: Floats) -> Floats:
    return values[~np.isnan(values)]

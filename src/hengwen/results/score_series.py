"""The values of one score at many checkpoints: all repeats in arrays, and the value of each prompt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hengwen.results.aggregate import reduce_repeats, value_by_prompt
from hengwen.results.coverage import Answers, answers_by_prompt, coverages, usual_number
from hengwen.results.score_table import Column, SeriesKey
from hengwen.stats.checkpoints import fill_missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from hengwen.records import Kind, Reducer, Scale
    from hengwen.results.comparability import ComparabilityKey
    from hengwen.results.coverage import Coverage
    from hengwen.results.score_table import ScoreTable
    from hengwen.score_id import ScoreId

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


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

    def add(self, column: Column) -> None:
        """Append a checkpoint, whose scores and failures are in a column."""
        prompts: list[int] = []
        repeats: list[int] = []
        values: list[float] = []
        not_applicable: set[str] = set()
        for sample, repeat, cluster, status, value in column.rows():
            if status == "not_applicable":
                not_applicable.add(sample or "")
                continue
            code = self._codes.setdefault(sample or "", len(self._codes))
            if code == len(self._clusters):
                self._clusters.append(cluster)
            self.is_group_score = self.is_group_score or sample is None
            if value is not None:
                prompts.append(code)
                repeats.append(repeat or 0)
                values.append(value)
        order = np.lexsort((np.array(repeats, np.int64), np.array(prompts, np.int64)))
        self._repeats.append(_Repeats(np.array(prompts, np.int32)[order], np.array(values)[order]))
        self._answers.append({name or "": counts for name, counts in answers_by_prompt(column).items()})
        self._not_applicable.append(frozenset(not_applicable))
        if len(column):
            self.reducer = column.reducer
        if column.scale is not None:
            self.higher_is_better = column.scale.higher_is_better

    def coverages(self, among: Sequence[int] = ()) -> list[Coverage]:
        """Return each checkpoint's shares of the prompts and answers that those ``among`` them have."""
        known = dict.fromkeys(name for index in among for name in self._answers[index])
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

    def has_unequal_repeats(self) -> bool:
        """Return whether a prompt has different numbers of repeats at the checkpoints that have a value."""
        counts = self.counts()
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSeries:
    """The value of each prompt for one score, at each checkpoint in training order."""

    address: str
    """``TASK/SCORE``."""
    values: tuple[Mapping[str, float], ...]
    """For each checkpoint, the value of each prompt; empty if the checkpoint does not have the score."""
    clusters: Mapping[str, str]
    """The cluster of each prompt: a group of prompts that depend on each other."""
    coverages: tuple[float, ...]
    """For each checkpoint, the share of prompts or of answers that have a value, whichever is lower."""
    signatures: tuple[str, ...]
    """For each checkpoint, the signature of the scorer; only equal ones are compared."""
    keys: tuple[ComparabilityKey, ...] = ()
    """For each checkpoint, the data behind the score; those whose known keys differ are not compared."""
    scale: Scale | None = None
    """Range of the values; None if it is not known."""
    task: str = ""
    repeats: ScoreMatrix | None = field(default=None, compare=False, repr=False)
    """All repeats of all prompts, if checkpoints have different numbers of them; tests use equally many."""

    @property
    def higher_is_better(self) -> bool:
        """Whether higher values are better; True if there is no scale."""
        return self.scale is None or self.scale.higher_is_better


def score_series(
    table: ScoreTable,
    run_ids: Sequence[str],
    score: ScoreId,
    kind: Kind,
    keys: Sequence[ComparabilityKey] = (),
) -> ScoreSeries:
    """Return the value of each prompt for one score, in each of several runs."""
    columns = [table.series.get(SeriesKey(run_id, score, kind)) for run_id in run_ids]
    answers = [
        {} if column is None or None in column.sample_ids else answers_by_prompt(column) for column in columns
    ]
    clusters = {
        sample: cluster
        for column in columns
        for sample, _, cluster, status, _ in (column.rows() if column else ())
        if sample is not None and status != "not_applicable"
    }
    return ScoreSeries(
        address=score.address,
        values=tuple(_values_of_prompts(column) for column in columns),
        clusters=clusters,
        coverages=tuple(coverage.least for coverage in coverages(answers)),
        signatures=tuple(" + ".join(sorted(column.signatures)) if column else "" for column in columns),
        keys=tuple(keys),
        scale=next((column.scale for column in columns if column and column.scale), None),
        task=score.task,
        repeats=_unequal_repeats([column or Column() for column in columns]),
    )


def _unequal_repeats(columns: Sequence[Column]) -> ScoreMatrix | None:
    """Return all repeats, if prompts have different numbers of scored repeats in different columns."""
    counts = [np.bincount(column.keys.prompts[1][column.is_scored]) for column in columns]
    if len({int(count) for of_column in counts for count in np.unique(of_column[of_column > 0])}) < 2:
        return None
    matrix = ScoreMatrix()
    for column in columns:
        matrix.add(column)
    return matrix if matrix.has_unequal_repeats() else None


def _values_of_prompts(column: Column | None) -> dict[str, float]:
    """Return the value of each prompt in a column; values of groups of answers are left out."""
    values = {} if column is None else value_by_prompt(column)
    return {name: value for name, value in values.items() if name is not None}

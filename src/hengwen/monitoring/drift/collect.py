"""Read the scores of many runs, one run at a time, into one matrix (prompts x checkpoints) for each score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from hengwen.errors import ConfigError
from hengwen.monitoring.drift.score_drift import LeftOut
from hengwen.monitoring.tested_scores import named_scores, tested_scores
from hengwen.records import Kind, Run, Scale
from hengwen.results.aggregate import group_variance
from hengwen.results.comparability import comparability_of, distinct_parts
from hengwen.results.comparisons import Comparison, compare_checkpoints
from hengwen.results.coverage import MIN_COVERAGE, mean_bounds
from hengwen.results.decide import Decision, ScoreCourse, decide, margins_of
from hengwen.results.group_comparison import GroupComparison
from hengwen.results.score_series import ScoreMatrix, ScoreSeries
from hengwen.results.score_table import Column, ScoreTable, SeriesKey
from hengwen.score_id import LEVEL, ScoreId
from hengwen.store import Store

if TYPE_CHECKING:
    AnswerPairs = tuple[list[float], list[float]]
    """Scores and human labels, in the same order, of the answers that have both."""

EQUALIZED_PARTS = ("repeats",)
"""Parts of the comparability key that may differ: tests use equally many repeats of each checkpoint."""


@dataclass(slots=True, kw_only=True)
class CollectedScore:
    """One score at every checkpoint of a report, in the order of the report's runs."""

    id: ScoreId
    kind: Kind
    scale: Scale | None
    labels: Sequence[str]
    """Names of the checkpoints."""
    matrix: ScoreMatrix = field(default_factory=ScoreMatrix)
    variances: list[float | None] = field(default_factory=list)
    """For each checkpoint, the squared standard error that the score of a group of answers brings."""
    bounds: list[tuple[float, float] | None] = field(default_factory=list)
    """For each checkpoint, its mean with all missing answers at the lowest, and at the highest value."""
    human: list[AnswerPairs] = field(default_factory=list)
    """For each checkpoint, the values and the human labels of the answers that have both."""

    has_judge_samples: bool = False
    """Whether the judge of the newest checkpoint gave several verdicts on an answer."""

    @property
    def address(self) -> str:
        """``TASK/SCORE``."""
        return self.id.address

    def add(self, run: Run, table: ScoreTable) -> None:
        """Append the checkpoint of a run."""
        key = SeriesKey(run.id, self.id, self.kind)
        column = table.series.get(key)
        self.matrix.add(column, comparability_of(key, table, run.facts) if column else None)
        self.variances.append(group_variance(column) if column else None)
        self.bounds.append(mean_bounds(column) if column else None)
        self.has_judge_samples = column is not None and ("method", "samples") in column.provenance
        human = table.series.get(SeriesKey(run.id, self.id.about("human"), "human"))
        self.human.append(_answer_pairs(column, human))

    def included(self) -> tuple[list[int], tuple[LeftOut, ...]]:
        """Return the indices of the checkpoints to test, and the left-out checkpoints with the reasons."""
        included: list[int] = []
        left_out: list[LeftOut] = []
        conflicts = [self._conflict(index) for index in range(len(self.labels))]
        alone, coverages = self.matrix.coverages(), self.matrix.coverages(self._with_same_data(conflicts))
        for index, label in enumerate(self.labels):
            conflict = conflicts[index]
            coverage = alone[index] if conflict else coverages[index]
            is_low = coverage.least < MIN_COVERAGE
            if self.matrix.keys[index] is None:
                left_out.append(LeftOut(checkpoint=label, problem="not scored"))
            elif conflict or is_low:
                left_out.append(
                    LeftOut(
                        checkpoint=label,
                        problem="keys" if conflict else "coverage",
                        detail=conflict,
                        coverage=coverage.prompts,
                        answer_coverage=coverage.answers,
                        bounds=None if conflict else self.bounds[index],
                    )
                )
            else:
                included.append(index)
        return included, tuple(left_out)

    def series(self) -> ScoreSeries | None:
        """Return the value of each prompt at each checkpoint; None if no prompt has a value."""
        return self.matrix.series(self.id, self.scale, self._shares())

    def _shares(self) -> list[float]:
        return [item.least for item in self.matrix.coverages(range(len(self.labels)))]

    def course(
        self, series: ScoreSeries | None, tests: Sequence[Comparison], order_problem: str, group_tests: int
    ) -> ScoreCourse:
        """Return the score with its paired tests, as the decision on what to ship takes it."""
        known = [column[~np.isnan(column)] for column in self.matrix.means().T]
        shares = series.coverages if series else self._shares()
        return ScoreCourse(
            address=self.address,
            higher_is_better=self.scale is None or self.scale.higher_is_better,
            means=tuple(fmean(values) if len(values) else None for values in known),
            is_covered=tuple(share >= MIN_COVERAGE for share in shares),
            comparisons=tests,
            series=series,
            has_conflict=any(item.problem == "keys" for item in self.included()[1]),
            order_problem=order_problem,
            is_group=self.matrix.is_group_score,
            group_tests=group_tests,
        )

    def _with_same_data(self, conflicts: Sequence[str]) -> list[int]:
        """Return the indices of the checkpoints with the same data as the newest checkpoint."""
        newest = self.matrix.keys[-1]
        return [
            index
            for index, (key, conflict) in enumerate(zip(self.matrix.keys, conflicts, strict=True))
            if key is not None and newest is not None and key.is_known == newest.is_known and not conflict
        ]

    def _conflict(self, index: int) -> str:
        """Return how a checkpoint differs from the newest in its scorer or its data; empty if it does not."""
        this, newest = self.matrix.signatures[index], self.matrix.signatures[-1]
        if this and newest and this != newest:
            parts = distinct_parts([this, newest])
            return f"signatures differ: {parts[0]} ({self.labels[index]}); {parts[1]} ({self.labels[-1]})"
        key, newest_key = self.matrix.keys[index], self.matrix.keys[-1]
        if key is None or newest_key is None:
            return ""
        return "; ".join(
            f"{item.part} differ: {item.this} ({self.labels[index]}), {item.that} ({self.labels[-1]})"
            for item in key.differences(newest_key)
            if item.part not in EQUALIZED_PARTS
        )


def decision_of(
    scores: Sequence[CollectedScore],
    runs: Sequence[Run],
    order_problem: str,
    groups: Sequence[GroupComparison],
) -> Decision:
    """Return which checkpoint to ship, by the tests of a report of these runs."""
    series = [score.series() for score in scores]
    tests = [] if order_problem else compare_checkpoints([item for item in series if item])
    tests += [item.comparison for item in groups]
    courses = [
        score.course(
            item, [pair for pair in tests if pair.address == score.address], order_problem, len(groups)
        )
        for score, item in zip(scores, series, strict=True)
    ]
    return decide(scores[0].labels if scores else (), courses, margins_of(runs))


def collect_scores(
    store: Store, runs: Sequence[Run], labels: Sequence[str], addresses: Sequence[str] = ()
) -> tuple[list[CollectedScore], tuple[str, ...]]:
    """Return the scores to test, and the addresses of the other scores."""
    newest = store.table(runs[-1:])
    views = tested_scores(runs[-1:], newest)
    if not views:
        raise ConfigError(f"{labels[-1]} has no scores; see: hengwen runs show {runs[-1].id}")
    chosen = named_scores(views, addresses, "test for drift") if addresses else views
    scores = [
        CollectedScore(id=view.id, kind=view.kind, scale=view.scale, labels=labels)
        for family, view in chosen
        if family == "headline"
    ]
    read = {score_id for score in scores for score_id in _scores_to_read(score)}
    for run in runs:
        table = newest if run is runs[-1] else store.table([run], read)
        for score in scores:
            score.add(run, table)
    tested = {score.address for score in scores}
    return scores, tuple(view.address for _, view in views if view.address not in tested)


def _scores_to_read(score: CollectedScore) -> list[ScoreId]:
    """Return a score, its human labels, and the level of its judge."""
    levels = [score.id.with_part(LEVEL)] if score.kind == "judge" else []
    return [score.id, score.id.about("human"), *levels]


def _answer_pairs(column: Column | None, human: Column | None) -> AnswerPairs:
    if column is None or human is None:
        return [], []
    values = column.by_answer()
    labels = {key: label for key, label in human.by_answer().items() if key in values and key[0] is not None}
    return [values[key] for key in labels], list(labels.values())

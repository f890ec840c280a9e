"""Read scores from the store, and estimate the variance of their differences between checkpoints."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from hengwen.errors import ConfigError
from hengwen.monitoring.compare_runs import scoring_conflict
from hengwen.monitoring.power.score_power import ScorePower
from hengwen.monitoring.tested_scores import named_scores, tested_scores
from hengwen.records import Score
from hengwen.results.paired_values import pair_values
from hengwen.results.run_order import run_labels
from hengwen.results.score_series import ScoreSeries
from hengwen.results.score_table import SeriesKey
from hengwen.stats.paired_variance import paired_variance, variance_from_one_checkpoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.monitoring.power.score_power import Basis
    from hengwen.plans.suite import LoadedPlan, LoadedTask
    from hengwen.records import Run
    from hengwen.results.paired_values import PairedValues
    from hengwen.results.score_summaries import ScoreSummaries
    from hengwen.results.score_table import Column, ScoreTable
    from hengwen.store.store import Store

MIN_CLUSTERS = 3
"""Minimum number of clusters (groups of dependent prompts) from which variances are estimated."""


@dataclass(frozen=True, slots=True)
class ScoreVariance:
    """A score with the variance of its differences between two checkpoints, or why this is unknown."""

    score: ScoreSummaries
    power: ScorePower
    """What is known before sizes of runs are searched."""
    values: PairedValues | None = None

    @property
    def series(self) -> ScoreSeries | None:
        """The differences between both checkpoints, for the test of a family; None if they are not used."""
        if self.power.basis != "two checkpoints" or self.values is None:
            return None
        return ScoreSeries.of_two(self.score.address, self.score.task, self.score.scale, self.values)


@dataclass
class VarianceCollector:
    """Reads the scores of one or two runs, and estimates the variances of differences between checkpoints."""

    store: Store
    suite: LoadedPlan
    first: Run
    second: Run | None
    correlation: float
    table: ScoreTable = field(init=False)
    tasks: Mapping[str, LoadedTask] = field(init=False)

    def __post_init__(self) -> None:
        self.table = self.store.table(self.runs)
        self.tasks = {task.spec.name: task for task in self.suite.tasks}

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs that are read."""
        return (self.first,) if self.second is None else (self.first, self.second)

    def scores(self, addresses: Sequence[str]) -> list[ScoreSummaries]:
        """Return the named scores, or the headline scores (main scores) of all tasks of the plan."""
        views = [item for item in tested_scores(self.runs, self.table) if item[1].task in self.tasks]
        if not views:
            raise ConfigError(f"{' and '.join(run_labels(self.runs))}: no scores of the plan's tasks")
        selected = named_scores(views, addresses, "plan for") if addresses else views
        return [score for family, score in selected if family == "headline"]

    def collect(self, score: ScoreSummaries) -> ScoreVariance:
        """Return a score with the variance of its differences between two checkpoints, if it is known."""
        before, after = self._column(self.first, score), self._column(self.second, score)
        power = ScorePower(address=score.address, scale=score.scale, problem="not scored")
        if before is None:
            return ScoreVariance(score, power)
        if before.is_group_score:
            return ScoreVariance(score, replace(power, problem="group score"))
        conflict = scoring_conflict(score, run_labels(self.runs)) if after is not None else ""
        item = None
        if after is not None and not conflict:
            item = self._result(score, "two checkpoints", "", pair_values(before, after))
        if item is None or item.power.problem == "too few":
            item = self._result(score, "one checkpoint", conflict, pair_values(before, before))
        return item

    def answers_per_prompt(self, item: ScoreVariance) -> float | None:
        """Return the mean number of answers if the prompts of the baseline run differ in it."""
        column = self._column(self.first, item.score)
        assert column is not None  # the score has values
        counts = column.answers()
        return None if len(set(counts.values())) < 2 else counts.total() / len(counts)

    def present_size(self, item: ScoreVariance) -> tuple[int, float]:
        """Return how many prompts of the plan a score applies to, and the number of repeats per prompt."""
        task = self.tasks[item.score.task]
        column = self._column(self.first, item.score)
        assert column is not None  # the score has values
        assert item.power.variance is not None
        applicable, attempted = len(column.answers()), len(set(column.sample_ids))
        prompts = round(len(task.samples.samples) * applicable / attempted)
        is_generated = all(spec.backend is not None for spec in self.suite.plan.checkpoints)
        if is_generated and item.power.variance.repeat is not None:
            return prompts, float(task.spec.repeats)
        return prompts, item.power.variance.repeats

    def _column(self, run: Run | None, score: ScoreSummaries) -> Column | None:
        """Return the outcomes of a score in a run; None if no answer has this score."""
        if run is None:
            return None
        column = self.table.series.get(SeriesKey(run.id, score.id, score.kind))
        return column if column is not None and column.has_scores else None

    def _result(
        self,
        score: ScoreSummaries,
        basis: Basis,
        conflict: str,
        values: PairedValues,
    ) -> ScoreVariance:
        power = ScorePower(
            address=score.address,
            scale=score.scale,
            problem="too few",
            basis=basis,
            conflict=conflict,
            data_prompts=len(values.prompts),
            data_clusters=values.cluster_count,
        )
        if values.cluster_count < MIN_CLUSTERS:
            return ScoreVariance(score, power, values)
        repeats = [len(taken) for taken, _ in values.repeats]
        numbers = values.differences if basis == "two checkpoints" else list(values.before)
        data = (numbers, values.clusters, repeats, values.repeat_variance)
        scale = score.scale
        span = scale.high - scale.low if scale is not None and scale.discrete else 0.0
        variance = (
            paired_variance(*data, span=span)
            if basis == "two checkpoints"
            else variance_from_one_checkpoint(*data, self.correlation, span=span)
        )
        total = variance.of_prompt(variance.repeats)
        is_constant = total <= 1e-18 * max(map(abs, numbers), default=0.0) ** 2
        power = replace(
            power,
            problem="constant" if is_constant else "",
            variance=variance,
            judge_variance=self._judge_variance(score, variance.repeat),
        )
        return ScoreVariance(score, power, values)

    def _judge_variance(self, score: ScoreSummaries, repeat_variance: float | None) -> float | None:
        """Return the part of ``repeat_variance`` that is due to a judge with several verdicts per answer."""
        levels = self.suite.levels.get((score.task, score.base))
        if score.kind != "judge" or levels is None or repeat_variance is None:
            return None
        variances = []
        for row in self.store.rows([self.first]):
            outcome = row.outcome
            if row.score != score.id or not isinstance(outcome, Score):
                continue
            labels = outcome.details.get("labels")
            if isinstance(labels, list) and len(labels) > 1:
                variances.append(float(np.var([levels[label] for label in labels], ddof=1)) / len(labels))
        return min(float(np.mean(variances)), repeat_variance) if variances else None

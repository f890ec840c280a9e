"""Compute one number for a whole task from a judge's scores of its answers, all of which it needs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING, Any

from hengwen.plans.suite import task_scores
from hengwen.records import Failure, Outcome, Row, Score
from hengwen.results.aggregate import prompt_values
from hengwen.results.score_table import ScoreTable, SeriesKey
from hengwen.score_id import NORMALISED
from hengwen.stats.mean_interval import mean_interval

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from hengwen.plans.plan import ScaleSpec
    from hengwen.records import Run, Scale
    from hengwen.results.score_table import Column
    from hengwen.score_id import ScoreId

VERSION = 1
"""Version of how the score of a whole task is computed; it is a part of the signature of this score."""
NORMALISED_MAX = 10.0
CONFIDENCE = 0.95

_STATUS_TEXTS = {"absent": "not in this run", "missing": "without an answer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskScore:
    """Compute a value of a whole task from one judge's scores of single answers.

    It is the mean over the prompts (of the means over repeats) ``mean_times`` a factor, or their sum
    ``sum_divided_by`` a number, with a second score on 0 to 10 (``normalised``).
    """

    source: ScoreId
    """The judge's score of single answers from which the value of the task is computed."""
    signature: str
    """Signature of the judge."""
    scale: ScaleSpec
    samples: Collection[str]
    """Ids of all samples of the task."""
    repeats: int = 1
    """Minimum number of answers to each sample."""
    answer_scale: Scale | None = None
    """Scale of the scores of single answers; used if the scores do not state a scale."""

    def rows(self, run: Run, table: ScoreTable) -> list[Row]:
        """The scores of the whole task for one run, or failures if the score of an answer is missing."""
        column = table.series.get(SeriesKey(run.id, self.source, "judge"))
        scores = task_scores(self.source.task, self.source.evaluator, self.scale)
        return [
            Row(
                run_id=run.id,
                score=score,
                checkpoint=run.checkpoint,
                sample_id=None,
                repeat=None,
                cluster=self.source.task,
                outcome=outcome,
            )
            for score, outcome in zip(scores, self._outcomes(column, scores), strict=True)
        ]

    def _outcomes(self, column: Column | None, scores: Sequence[ScoreId]) -> list[Outcome]:
        statuses = self._statuses(column)
        missing = sum(statuses.values()) - statuses["ok"]
        if column is None or missing:
            return [self._incomplete(score, statuses, missing) for score in scores]
        values, clusters = prompt_values(column)
        scale = column.scale or self.answer_scale
        interval = mean_interval(
            values,
            clusters,
            scale=None if scale is None else (scale.low, scale.high),
            continuous=scale is not None and not scale.discrete,
            confidence=CONFIDENCE,
        ).bounds
        details: dict[str, Any] = {
            "of": self.source.base,
            "prompts": len(values),
            "answers": statuses["ok"],
            "mean": fsum(values) / len(values),
            "level": CONFIDENCE,
            "method": "none" if interval is None else "t",
        }
        return [self._score(score, values, interval, scale, details) for score in scores]

    def _statuses(self, column: Column | None) -> Counter[str]:
        """Count the expected answers by status; ``absent`` means that an answer is not in this run."""
        by_sample: dict[str | None, list[str]] = {name: [] for name in self.samples}
        if column is not None:
            for name, status in zip(column.sample_ids, column.statuses, strict=True):
                by_sample[name].append(status)
        counts: Counter[str] = Counter()
        for statuses in by_sample.values():
            counts.update(statuses)
            counts["absent"] += max(self.repeats - len(statuses), 0)
        return +counts

    def _score(
        self,
        score: ScoreId,
        values: Sequence[float],
        interval: tuple[float, float] | None,
        scale: Scale | None,
        details: Mapping[str, Any],
    ) -> Score:
        factor, offset = self._factor(score, len(values), scale)

        def scaled(mean: float) -> float:
            return (mean - offset) * factor

        task_scale = None
        value = scaled(fsum(values) / len(values))
        bounds = None if interval is None else [scaled(end) for end in interval]
        if scale is not None:
            task_scale = replace(scale, low=scaled(scale.low), high=scaled(scale.high), levels=None)
            value = min(max(value, task_scale.low), task_scale.high)  # rounding may exceed the maximum
            if bounds is not None:
                bounds = [max(bounds[0], task_scale.low), min(bounds[1], task_scale.high)]
        return Score(
            name=score.base,
            value=value,
            signature=self._signature(score),
            scale=task_scale,
            kind="judge",
            reason=f"{details['answers']} answers to {len(values)} prompts",
            details={**details, **({} if bounds is None else {"ci": bounds})},
        )

    def _factor(self, score: ScoreId, prompts: int, scale: Scale | None) -> tuple[float, float]:
        """Return (factor, offset); the task's value is the mean minus the offset, times the factor."""
        if score.part == NORMALISED:
            if scale is None:
                return NORMALISED_MAX, 0.0
            return NORMALISED_MAX / (scale.high - scale.low), scale.low
        if self.scale.sum_divided_by is not None:
            return prompts / self.scale.sum_divided_by, 0.0
        return self.scale.mean_times or 1.0, 0.0

    def _signature(self, score: ScoreId) -> str:
        how = f"mean_times:{self.scale.mean_times:g}" if self.scale.mean_times is not None else ""
        if self.scale.sum_divided_by is not None:
            how = f"sum_divided_by:{self.scale.sum_divided_by:g}"
        counts = f"prompts:{len(self.samples)}|repeats:{self.repeats}"
        return f"{score.base}|{how}|{counts}|[{self.signature}]|v:{VERSION}"

    def _incomplete(self, score: ScoreId, statuses: Mapping[str, int], missing: int) -> Failure:
        reasons = ", ".join(
            f"{count} {_STATUS_TEXTS.get(status, status)}"
            for status, count in sorted(statuses.items())
            if status != "ok"
        )
        return Failure(
            name=score.base,
            status="missing",
            message=f"incomplete: {missing} of {sum(statuses.values())} answers have no verdict ({reasons})",
            signature=self._signature(score),
            kind="judge",
        )


def published_rows(run: Run, definitions: Sequence[TaskScore], rows: Iterable[Row]) -> list[Row]:
    """Return the scores that are computed from all answers to a task together, for one run."""
    samples = {score.source: frozenset(score.samples) for score in definitions}
    table = ScoreTable(row for row in rows if row.sample_id in samples.get(row.score, ()))
    return [row for score in definitions for row in score.rows(run, table)]

"""The published score of a task: one number from all scores of a judge, or a word on what is missing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

from hengwen.plans.plan import task_score_names
from hengwen.records import Failure, Outcome, Row, Scale, Score
from hengwen.results.aggregate import prompt_values
from hengwen.results.score_table import ScoreTable, SeriesKey
from hengwen.stats.intervals import cluster_interval, interval_method

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from hengwen.plans.plan import ScaleSpec
    from hengwen.records import Run
    from hengwen.results.score_table import Column

VERSION = 1
"""Goes up whenever the way from scores to a published one changes."""
NORMALISED_TO = 10.0
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskScore:
    """What is to be published of one judge of a task.

    The value of a prompt is the mean of its repeats; ``mean_times`` takes the mean over the prompts,
    ``sum_divided_by`` their sum, with the mean on a scale of 0 to 10 beside it (``normalised``). There is a
    number only where every answer has a score: all samples of the plan, each with all its repeats.
    """

    task: str
    judge: str
    source: str
    """The score of single answers that it is made of."""
    signature: str
    """Of that score."""
    scale: ScaleSpec
    samples: Collection[str]
    """The ids of all samples of the task."""
    repeats: int = 1
    """Answers that each sample needs, at least."""
    answers: Scale | None = None
    """On which single answers are scored; default: that of the scores."""

    def rows(self, run: Run, table: ScoreTable, *, seed: int = 0) -> list[Row]:
        """Return the rows of the whole task for one run.

        Args:
            run: Whose they are.
            table: The rows of that run, of samples of the task.
            seed: Of the bootstrap.
        """
        column = table.series.get(SeriesKey(run.id, self.task, self.source, "judge"))
        return [
            Row(
                run_id=run.id,
                task=self.task,
                checkpoint=run.checkpoint,
                sample_id=None,
                repeat=None,
                cluster=self.task,
                outcome=outcome,
            )
            for outcome in self._outcomes(column, seed)
        ]

    def _outcomes(self, column: Column | None, seed: int) -> list[Outcome]:
        statuses = self._statuses(column)
        missing = sum(statuses.values()) - statuses["ok"]
        if column is None or missing:
            return [
                self._incomplete(name, statuses, missing) for name in task_score_names(self.judge, self.scale)
            ]
        values, clusters = prompt_values(column)
        interval = cluster_interval(values, clusters, confidence=LEVEL, seed=seed)
        details: dict[str, Any] = {
            "of": self.source,
            "prompts": len(values),
            "answers": statuses["ok"],
            "mean": fsum(values) / len(values),
            "level": LEVEL,
            "method": "none" if interval is None else interval_method(clusters),
        }
        return [
            self._score(name, values, interval, column.scale or self.answers, details)
            for name in task_score_names(self.judge, self.scale)
        ]

    def _statuses(self, column: Column | None) -> Counter[str]:
        """Count what became of every answer that there should be; ``absent`` is not in this run."""
        found: dict[str | None, list[str]] = {name: [] for name in self.samples}
        if column is not None:
            for name, status in zip(column.sample_ids, column.statuses, strict=True):
                found[name].append(status)
        statuses: Counter[str] = Counter()
        for own in found.values():
            statuses.update(own)
            if lacking := self.repeats - len(own):
                statuses["absent"] += max(lacking, 0)
        return +statuses

    def _score(
        self,
        name: str,
        values: Sequence[float],
        interval: tuple[float, float] | None,
        scale: Scale | None,
        details: Mapping[str, Any],
    ) -> Score:
        factor, offset = self._factor(name, len(values), scale)

        def at(mean: float) -> float:
            return (mean - offset) * factor

        own = None
        if scale is not None:
            own = Scale(low=at(scale.low), high=at(scale.high), higher_is_better=scale.higher_is_better)
        value = at(fsum(values) / len(values))
        ci = None if interval is None else [at(end) for end in interval]
        if ci is not None and own is not None:
            ci = [max(ci[0], own.low), min(ci[1], own.high)]
        if own is not None:  # the last bit of a full mark
            value = min(max(value, own.low), own.high)
        return Score(
            name=name,
            value=value,
            signature=self._signature(name),
            scale=own,
            kind="judge",
            reason=f"{details['answers']} answers to {len(values)} prompts",
            details={**details, **({} if ci is None else {"ci": ci})},
        )

    def _factor(self, name: str, prompts: int, scale: Scale | None) -> tuple[float, float]:
        """What a mean is multiplied by, and what is taken off before."""
        if name.endswith(".normalised"):
            return (NORMALISED_TO / (scale.high - scale.low), scale.low) if scale else (NORMALISED_TO, 0.0)
        if self.scale.sum_divided_by is not None:
            return prompts / self.scale.sum_divided_by, 0.0
        return self.scale.mean_times or 1.0, 0.0

    def _signature(self, name: str) -> str:
        how = f"mean_times:{self.scale.mean_times:g}" if self.scale.mean_times is not None else ""
        if self.scale.sum_divided_by is not None:
            how = f"sum_divided_by:{self.scale.sum_divided_by:g}"
        return (
            f"{name}|{how}|prompts:{len(self.samples)}|repeats:{self.repeats}|[{self.signature}]|v:{VERSION}"
        )

    def _incomplete(self, name: str, statuses: Mapping[str, int], missing: int) -> Failure:
        total = sum(statuses.values())
        why = ", ".join(
            f"{count} {_WORDS.get(status, status)}"
            for status, count in sorted(statuses.items())
            if status != "ok"
        )
        return Failure(
            name=name,
            status="missing",
            message=f"incomplete: {missing} of {total} answers have no verdict ({why})",
            signature=self._signature(name),
            kind="judge",
        )


_WORDS = {"absent": "not in this run", "missing": "without an answer"}


def published_rows(run: Run, wanted: Sequence[TaskScore], rows: Iterable[Row], *, seed: int = 0) -> list[Row]:
    """Return the rows of all that is to be published for one run.

    Args:
        run: Whose they are.
        wanted: What is to be published.
        rows: All rows of that run.
        seed: Of the bootstrap.
    """
    known = {(one.task, one.source): frozenset(one.samples) for one in wanted}
    table = ScoreTable(row for row in rows if row.sample_id in known.get((row.task, row.outcome.name), ()))
    return [row for one in wanted for row in one.rows(run, table, seed=seed)]

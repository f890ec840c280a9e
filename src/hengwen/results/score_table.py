"""Table of outcomes (scores and failures), with one column for each score of each run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from hengwen.argument_types import checked_arguments
from hengwen.records import Kind, Reducer, Row, Scale, Score
from hengwen.results.comparability import provenance_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_MESSAGE = 1000
"""Maximum number of characters of a failure's message that a column keeps."""


class SeriesKey(NamedTuple):
    """Key of a series: all outcomes (scores and failures) of one score in one run."""

    run_id: str
    task: str
    name: str
    kind: Kind

    @property
    def address(self) -> str:
        """Address of the score in plans and reports: ``TASK/SCORE``."""
        return f"{self.task}/{self.name}"


@dataclass(slots=True)
class Column:
    """Scores and failures (outcomes) of one series (one score in one run), as parallel lists."""

    sample_ids: list[str | None] = field(default_factory=list)
    repeats: list[int | None] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)
    """Value of each score; None for a failure."""
    statuses: list[str] = field(default_factory=list)
    """Status of each score or failure: ``ok`` or a failure status."""
    first_messages: dict[str, str] = field(default_factory=dict)
    """For each status, the message of the first failure, cut to ``MAX_MESSAGE`` characters."""
    signatures: set[str] = field(default_factory=set)
    provenance: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of a judge's scores for each origin, such as (``model``, name that the server returned)."""
    judged_by_rules: bool = False
    """Whether a rules judge (fixed rules, no model) gave a score of this series."""
    scale: Scale | None = None
    reducer: Reducer = "mean"
    """Name of the function that combines the values of a prompt's repeats."""
    interval: tuple[float, float] | None = None
    """Confidence interval of a score of a group of answers, from ``ci`` in the details of the score."""
    confidence: float | None = None
    """Confidence level of ``interval``, from ``level`` in the details; None if they do not name it."""
    composed_of: tuple[int, int] | None = None
    """Numbers of answers and of prompts in a scored group of answers, from the details of the score."""
    sample_count: int | None = None
    """Number of samples of the task; None if it is unknown or if the series covers other samples."""

    def append(
        self,
        sample_id: str | None,
        repeat: int | None,
        cluster: str,
        status: str,
        value: float | None,
        signature: str,
    ) -> None:
        """Append an outcome; its scale, details and message are recorded separately."""
        self.sample_ids.append(sample_id)
        self.repeats.append(repeat)
        self.clusters.append(cluster)
        self.statuses.append(status)
        self.values.append(value)
        self.signatures.add(signature)

    def record_message(self, status: str, message: str) -> None:
        """Keep the message of a failure unless an earlier failure has the same status."""
        if message:
            self.first_messages.setdefault(status, message[:MAX_MESSAGE])

    def read_details(self, kind: Kind, details: Mapping[str, Any], *, is_group_score: bool) -> None:
        """Copy into this column the details of a score that describe its series.

        Args:
            kind: Kind of the score.
            details: Details of the score.
            is_group_score: Whether the score is one value for a group of answers.
        """
        if kind == "judge":
            self.provenance.update(provenance_of(details))
            # only a rules judge has clauses; a model may be called "rules" too
            by_rules = details.get("model") == "rules" and "clauses" in details
            self.judged_by_rules = self.judged_by_rules or by_rules
        if not is_group_score:
            return
        interval = details.get("ci")
        if interval is not None:
            self.interval = (float(interval[0]), float(interval[1]))
            self.confidence = float(details["level"]) if "level" in details else None
        if "answers" in details and "prompts" in details:
            self.composed_of = (int(details["answers"]), int(details["prompts"]))


class ScoreTable:
    """Table with a column of scores and failures for each score of each run, in order of appearance.

    Examples:
        >>> score = Score(name="length", value=3, signature="length|v:1")
        >>> key = {"run_id": "r", "checkpoint": "c", "task": "t", "sample_id": "a", "repeat": 1}
        >>> table = ScoreTable([Row(**key, cluster="a", outcome=score)])
        >>> [(key.address, column.values) for key, column in table.series.items()]
        [('t/length', [3])]
    """

    @checked_arguments
    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.series: dict[SeriesKey, Column] = {}
        for row in rows:
            self.add(row)

    def arrange(self, score_order: Iterable[str]) -> None:
        """Sort the columns by a list of score addresses; columns that the list does not name follow."""
        rank = {address: index for index, address in enumerate(dict.fromkeys(score_order))}
        self.series = dict(sorted(self.series.items(), key=lambda item: rank.get(item[0].address, len(rank))))

    def set_reducer(self, run_id: str, task: str, reducer: Reducer) -> None:
        """Set the reducer, which combines the values of a prompt's repeats; the default is the mean.

        Args:
            run_id: Id of the run.
            task: Name of the task; scores of groups of answers are not changed.
            reducer: Name of the function that combines repeats. The signature contains the name unless it is
                ``mean``.
        """
        for key, column in self.series.items():
            if (key.run_id, key.task) == (run_id, task) and None not in column.sample_ids:
                column.reducer = reducer
                if reducer != "mean":
                    column.signatures = {f"{signature}|repeats:{reducer}" for signature in column.signatures}

    def set_sample_count(self, run_id: str, task: str, count: int) -> None:
        """Set the number of samples of a task; with ``--limit``, a run has scores of fewer samples.

        Args:
            run_id: Run of the series.
            task: Task of the series. Human scores and scores of anchors (fixed answers) are not changed,
                because they cover other samples.
            count: Number of samples in the task's files.
        """
        for key, column in self.series.items():
            covers_task = key.kind != "human" and not key.name.startswith("anchor.")
            if (key.run_id, key.task) == (run_id, task) and covers_task:
                column.sample_count = count

    def column(self, key: SeriesKey) -> Column:
        """Return the column of a series; a new series gets an empty one."""
        return self.series.setdefault(key, Column())

    def add(self, row: Row) -> None:
        """Append a row (a score or failure) to the column of its score and run."""
        outcome = row.outcome
        column = self.column(SeriesKey(row.run_id, row.task, outcome.name, outcome.kind))
        if isinstance(outcome, Score):
            column.append(row.sample_id, row.repeat, row.cluster, "ok", outcome.value, outcome.signature)
            column.scale = column.scale or outcome.scale
            column.read_details(outcome.kind, outcome.details, is_group_score=row.sample_id is None)
        else:
            column.append(row.sample_id, row.repeat, row.cluster, outcome.status, None, outcome.signature)
            column.record_message(outcome.status, outcome.message)

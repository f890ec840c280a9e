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
    composed_of: tuple[int, int] | None = None
    """Numbers of answers and of prompts in a scored group of answers, from the details of the score."""
    sample_count: int | None = None
    """Number of samples of the task; None if it is unknown or if the series covers other samples."""


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

    def add(self, row: Row) -> None:
        """Append a row (a score or failure) to the column of its score and run."""
        outcome = row.outcome
        key = SeriesKey(row.run_id, row.task, outcome.name, outcome.kind)
        column = self.series.setdefault(key, Column())
        column.sample_ids.append(row.sample_id)
        column.repeats.append(row.repeat)
        column.clusters.append(row.cluster)
        column.signatures.add(outcome.signature)
        if isinstance(outcome, Score):
            column.values.append(outcome.value)
            column.statuses.append("ok")
            column.scale = column.scale or outcome.scale
            if outcome.kind == "judge":
                column.provenance.update(provenance_of(outcome.details))
            column.judged_by_rules = column.judged_by_rules or _is_by_rules(outcome)
            if row.sample_id is None:
                _read_group_details(column, outcome)
        else:
            column.values.append(None)
            column.statuses.append(outcome.status)
            if outcome.message:
                column.first_messages.setdefault(outcome.status, outcome.message[:MAX_MESSAGE])


def _read_group_details(column: Column, score: Score) -> None:
    """Read the interval and the numbers of answers and prompts from the details of a group score."""
    details: Mapping[str, Any] = score.details
    interval = details.get("ci")
    if interval is not None:
        column.interval = (float(interval[0]), float(interval[1]))
    if "answers" in details and "prompts" in details:
        column.composed_of = (int(details["answers"]), int(details["prompts"]))


def _is_by_rules(score: Score) -> bool:
    """Return whether a rules judge gave the score: only its scores have ``clauses`` in their details."""
    return score.kind == "judge" and score.details.get("model") == "rules" and "clauses" in score.details

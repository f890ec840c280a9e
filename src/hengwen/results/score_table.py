"""``ScoreTable``: rows as columns, the only input of ``aggregate``, ``monitor`` and ``reports``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from hengwen.records import Kind, Reducer, Row, Scale, Score

if TYPE_CHECKING:
    from collections.abc import Iterable


class SeriesKey(NamedTuple):
    """What makes values comparable inside one run."""

    run_id: str
    task: str
    name: str
    kind: Kind

    @property
    def address(self) -> str:
        """``TASK/SCORE``, as scores are addressed in plans, gates and reports."""
        return f"{self.task}/{self.name}"


@dataclass(slots=True)
class Column:
    """The outcomes of one series: parallel lists, one entry an outcome."""

    sample_ids: list[str | None] = field(default_factory=list)
    repeats: list[int | None] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    values: list[float | None] = field(default_factory=list)
    """None where the outcome is a failure; its status then says why."""
    statuses: list[str] = field(default_factory=list)
    """``ok`` or a failure status."""
    signatures: set[str] = field(default_factory=set)
    scale: Scale | None = None
    reducer: Reducer = "mean"
    """How the repeats of a prompt become its value."""
    interval: tuple[float, float] | None = None
    """Of a value of a whole set, where its scorer gives one in the details (``ci``)."""
    made_of: tuple[int, int] | None = None
    """The answers and prompts behind a value of a whole set, where the details say so."""


class ScoreTable:
    """Outcomes by series, in the order in which the series first came.

    Examples:
        >>> score = Score(name="length", value=3, signature="length|v:1")
        >>> place = {"run_id": "r", "checkpoint": "c", "task": "t", "sample_id": "a", "repeat": 1}
        >>> table = ScoreTable([Row(**place, cluster="a", outcome=score)])
        >>> [(key.address, column.values) for key, column in table.series.items()]
        [('t/length', [3])]
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.series: dict[SeriesKey, Column] = {}
        for row in rows:
            self.add(row)

    def arrange(self, layout: Iterable[str]) -> None:
        """Put the series in the order of their addresses in ``layout``; others follow as they came."""
        place = {address: index for index, address in enumerate(dict.fromkeys(layout))}
        last = len(place)
        self.series = dict(sorted(self.series.items(), key=lambda item: place.get(item[0].address, last)))

    def reduce(self, run_id: str, task: str, reducer: Reducer) -> None:
        """Say how the repeats of a prompt become its value; other than the mean, signatures say it too.

        Args:
            run_id: Of the rows.
            task: Of the rows; values of whole sets stay as they are.
            reducer: Mean until this is called.
        """
        for key, column in self.series.items():
            if (key.run_id, key.task) == (run_id, task) and None not in column.sample_ids:
                column.reducer = reducer
                if reducer != "mean":
                    column.signatures = {f"{one}|repeats:{reducer}" for one in column.signatures}

    def add(self, row: Row) -> None:
        """Append a row to its series."""
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
            if row.sample_id is None:
                _note_whole(column, outcome)
        else:
            column.values.append(None)
            column.statuses.append(outcome.status)


def _note_whole(column: Column, score: Score) -> None:
    """Keep what a value of a whole set says of itself."""
    interval = score.details.get("ci")
    if interval is not None:
        column.interval = (float(interval[0]), float(interval[1]))
    if "answers" in score.details and "prompts" in score.details:
        column.made_of = (int(score.details["answers"]), int(score.details["prompts"]))

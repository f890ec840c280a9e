"""Queries about runs: scores and failures, also as columns, calls of models, and empty answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from sys import intern
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import ColumnElement, Connection, Engine, RowMapping, Select, case, func, or_, select
from sqlalchemy import Row as TableRow

from hengwen.records import Kind, Outcome, Row, Run, Sample
from hengwen.results.coverage import EmptyAnswers
from hengwen.results.score_table import STATUS_CODES, AnswerKeys, ScoreTable, SeriesKey
from hengwen.score_id import ScoreId
from hengwen.store import tables
from hengwen.store.database import store_errors
from hengwen.store.evaluation_codec import (
    TEXT_COLUMNS,
    Evaluator,
    evaluator_from,
    notes_from,
    rows_from,
    statuses_from,
)

FETCH_SIZE = 5_000
"""Number of evaluations that are fetched from the database at a time."""


def select_evaluations(*conditions: ColumnElement[bool]) -> Select[Any]:
    """Return the query for evaluations with evaluators and notes, in the order in which they were written."""
    evaluation, evaluator, note = tables.evaluation, tables.evaluator, tables.note
    return (
        select(
            *(evaluation.c[name] for name in ("run_id", "sample_id", "repeat", "evaluator_id", "cluster")),
            *(evaluation.c[name] for name in ("item_hash", "statuses", "numbers")),
            func.coalesce(note.c.text, evaluation.c.notes).label("notes"),
            *(evaluator.c[name] for name in (*TEXT_COLUMNS, "scores")),
        )
        .join(evaluator, evaluator.c.id == evaluation.c.evaluator_id)
        .outerjoin(note, note.c.id == evaluation.c.notes_id)
        .where(*conditions)
        .order_by(evaluation.c.id)
    )


def read_rows(engine: Engine, run: Run, sample_ids: Collection[str] | None = None) -> Iterator[Row]:
    """Yield the rows of a run, in the order in which they were written."""
    conditions = [tables.evaluation.c.run_id == run.id]
    if sample_ids is not None:
        conditions.append(tables.evaluation.c.sample_id.in_(sample_ids))
    with store_errors(engine), engine.connect() as connection:
        for columns, evaluator in stream_evaluations(connection, select_evaluations(*conditions)):
            yield from rows_from(columns, evaluator, run.checkpoint)


def stream_evaluations(connection: Connection, query: Select[Any]) -> Iterator[tuple[RowMapping, Evaluator]]:
    """Yield the evaluations that ``select_evaluations`` selects, each with its evaluator."""
    evaluators: dict[int, Evaluator] = {}
    for columns in connection.execution_options(yield_per=FETCH_SIZE).execute(query).mappings():
        evaluator = evaluators.get(columns["evaluator_id"])
        if evaluator is None:
            evaluator = evaluators[columns["evaluator_id"]] = evaluator_from(columns)
        yield columns, evaluator


def read_evaluators(connection: Connection, evaluator_ids: Any) -> dict[int, Evaluator]:
    """Return evaluators by id."""
    evaluator = tables.evaluator
    rows = connection.execute(select(evaluator).where(evaluator.c.id.in_(evaluator_ids))).mappings()
    return {columns["id"]: evaluator_from(columns) for columns in rows}


def count_statuses(
    engine: Engine, runs: Sequence[Run], kind: Kind | None = None
) -> dict[ScoreId, Counter[str]]:
    """Return the number of outcomes of each score (of one kind, if given) by status, over all these runs."""
    evaluation = tables.evaluation
    query = (
        select(evaluation.c.evaluator_id, evaluation.c.statuses, func.count())
        .where(evaluation.c.run_id.in_([run.id for run in runs]))
        .group_by(evaluation.c.evaluator_id, evaluation.c.statuses)
    )
    with store_errors(engine), engine.connect() as connection:
        groups = connection.execute(query).all()
        evaluators = read_evaluators(connection, {evaluator_id for evaluator_id, _, _ in groups})
    counts: dict[ScoreId, Counter[str]] = {}
    for evaluator_id, text, count in groups:
        if kind not in (None, evaluators[evaluator_id].kind):
            continue
        scores = evaluators[evaluator_id].scores
        for score, status in zip(scores, statuses_from(text, len(scores)), strict=True):
            counts.setdefault(score, Counter())[status] += count
    return counts


def first_messages(engine: Engine, runs: Sequence[Run]) -> dict[str, str]:
    """Return, for each status of failures, the first message of such a failure in these runs."""
    evaluation = tables.evaluation
    has_notes = or_(evaluation.c.notes != "", evaluation.c.notes_id.is_not(None))
    first = (
        select(func.min(evaluation.c.id))
        .where(evaluation.c.run_id.in_([run.id for run in runs]), evaluation.c.statuses != "", has_notes)
        .group_by(evaluation.c.statuses)
    )
    messages: dict[str, str] = {}
    with store_errors(engine), engine.connect() as connection:
        for columns in connection.execute(select_evaluations(evaluation.c.id.in_(first))).mappings():
            statuses = json.loads(columns["statuses"])
            notes = notes_from(columns["notes"], len(statuses))
            for status, (text, _) in zip(statuses, notes, strict=True):
                if status != "ok" and text:
                    messages.setdefault(status, text)
    return messages


def count_look(engine: Engine, series: str, run_id: str, when: str, *, read_only: bool) -> int:
    """Record that a run is tested against a baseline; return its number, from 1, among the tested runs."""
    look = tables.look
    recorded = select(look.c.number).where(look.c.series == series, look.c.run_id == run_id)
    last = select(func.coalesce(func.max(look.c.number), 0)).where(look.c.series == series)
    with store_errors(engine), engine.begin() as connection:
        if not read_only:  # so that no other process takes the same number
            is_sqlite = engine.dialect.name == "sqlite"
            connection.exec_driver_sql("BEGIN IMMEDIATE" if is_sqlite else "LOCK TABLE look")
        number = connection.execute(recorded).scalar()
        if number is not None:
            return int(number)
        number = int(connection.execute(last).scalar_one()) + 1
        if not read_only:
            columns = {"series": series, "run_id": run_id, "number": number, "looked": when}
            connection.execute(look.insert(), [columns])
        return number


MAX_IDS = 500
"""Number of ids that one query names; databases limit the number of parameters."""


def read_columns(engine: Engine, run: Run, scores: Collection[ScoreId] | None = None) -> ScoreTable:
    """Return the scores and failures of a run as a table, without most details of the scores."""
    reader = _ColumnReader(run, scores)
    with store_errors(engine), engine.connect() as connection:
        used = select(tables.evaluation.c.evaluator_id).where(tables.evaluation.c.run_id == run.id).distinct()
        evaluators = {
            evaluator_id: evaluator
            for evaluator_id, evaluator in read_evaluators(connection, used).items()
            if any(map(reader.reads, evaluator.scores))
        }
        query = _query(run, list(evaluators))
        result = connection.execution_options(yield_per=FETCH_SIZE).execute(query)
        for rows in result.partitions():
            by_series: dict[int, list[TableRow[Any]]] = {}
            reader.read_notes(connection, {row.notes_id for row in rows if row.is_read})
            for row in rows:
                by_series.setdefault(row[0], []).append(row)
            for of_series in by_series.values():
                for evaluator_id, group in groupby(of_series, itemgetter(1)):
                    reader.add(evaluators[evaluator_id], list(group))
    return reader.table


class _ColumnReader:
    """Append evaluations to the columns of a table."""

    def __init__(self, run: Run, scores: Collection[ScoreId] | None) -> None:
        self.table = ScoreTable()
        self._run = run
        self._scores = None if scores is None else set(scores)
        self._keys: dict[tuple[int, tuple[str, ...]], AnswerKeys] = {}
        self._notes: dict[int, str] = {}

    def reads(self, score: ScoreId) -> bool:
        return self._scores is None or score in self._scores

    def read_notes(self, connection: Connection, notes_ids: Collection[int | None]) -> None:
        """Read the notes that evaluations share, unless they were read before."""
        note = tables.note
        unread = [notes_id for notes_id in notes_ids if notes_id is not None and notes_id not in self._notes]
        for start in range(0, len(unread), MAX_IDS):
            query = select(note.c.id, note.c.text).where(note.c.id.in_(unread[start : start + MAX_IDS]))
            self._notes |= {row.id: row.text for row in connection.execute(query)}

    def add(self, evaluator: Evaluator, rows: Sequence[TableRow[Any]]) -> None:
        """Append evaluations of one evaluator, in the order in which they were written."""
        count = len(evaluator.parts)
        keys = self._keys.setdefault((rows[0].series_id, evaluator.parts), AnswerKeys())
        _, _, ids, repeats, clusters, statuses, numbers, *_ = zip(*rows, strict=True)
        sample_ids = [intern(name) for name in ids]  # the runs of a plan have the same samples
        keys.extend(
            [name or None for name in sample_ids],
            [repeat or None for repeat in repeats],
            [cluster or name for cluster, name in zip(clusters, sample_ids, strict=True)],
        )
        values = np.array(json.loads(f"[{','.join(numbers)}]"), dtype=float)
        codes = np.zeros((len(rows), count), dtype=np.uint8)
        parsed = {text: statuses_from(text, count) for text in set(statuses)}
        for index, text in enumerate(statuses):
            if text:
                codes[index] = [STATUS_CODES[status] for status in parsed[text]]
        texts = Counter(
            (
                row.notes if row.notes_id is None else self._notes[row.notes_id],
                row.statuses,
                not row.sample_id,
            )
            for row in rows
            if row.is_read and (row.notes or row.notes_id is not None)
        )
        noted = [
            (notes_from(notes, count), parsed[of_scores], is_group_score, times)
            for (notes, of_scores, is_group_score), times in texts.items()
        ]
        for position, (score, scale) in enumerate(zip(evaluator.scores, evaluator.scales, strict=True)):
            if not self.reads(score):
                continue
            column = self.table.column(SeriesKey(self._run.id, score, evaluator.kind))
            column.extend(keys, values[:, position], codes[:, position], evaluator.signature)
            column.scale = column.scale or scale
            for notes, of_scores, is_group_score, times in noted:
                (text, more), status = notes[position], of_scores[position]
                if status != "ok":
                    column.record_message(status, text)
                elif more:
                    column.read_details(evaluator.kind, more, is_group_score=is_group_score, times=times)


def _query(run: Run, evaluator_ids: Sequence[int]) -> Select[Any]:
    evaluation, evaluator = tables.evaluation, tables.evaluator
    is_read = or_(evaluator.c.kind == "judge", evaluation.c.sample_id == "", evaluation.c.statuses != "")
    names = ("series_id", "evaluator_id", "sample_id", "repeat", "cluster", "statuses", "numbers")
    return (
        select(
            *(evaluation.c[name] for name in names),
            case((is_read, evaluation.c.notes), else_="").label("notes"),
            evaluation.c.notes_id,
            is_read.label("is_read"),
        )
        .join(evaluator, evaluator.c.id == evaluation.c.evaluator_id)
        .where(evaluation.c.run_id == run.id, evaluation.c.evaluator_id.in_(evaluator_ids))
        .order_by(evaluation.c.id)
    )


ResponseKey = tuple[str, str, int]
"""(task, sample id, repeat): identifies an answer in one run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A stored answer with its input and its outcomes (scores and failures)."""

    task: str
    sample_id: str
    repeat: int
    input: str
    text: str
    outcomes: Mapping[ScoreId, Outcome]
    sample: Sample
    """The prompt with its references and metadata."""


class ModelCalls(NamedTuple):
    """Calls of one model in one role."""

    role: str
    """``judge``, or ``subject`` (the model under test)."""
    model: str
    """Name that the server returned; empty if no call got an answer."""
    calls: int
    """Number of replies that were paid for."""
    failed: int
    """Number of attempts that failed."""
    input_tokens: int
    output_tokens: int
    seconds: float | None
    """Mean latency of the attempts that did not fail; None if all failed."""


def model_calls(connection: Connection, run_ids: Sequence[str]) -> list[ModelCalls]:
    """Return the calls of runs by role and model."""
    attempt = tables.attempt.c
    is_answered = attempt.status == "ok"
    query = (
        select(
            attempt.role,
            attempt.model,
            func.sum(attempt.calls),
            func.sum(case((is_answered, 0), else_=1)),
            func.sum(attempt.input_tokens),
            func.sum(attempt.output_tokens),
            func.avg(case((is_answered, attempt.latency))),
        )
        .where(attempt.run_id.in_(run_ids))
        .group_by(attempt.role, attempt.model)
        .order_by(attempt.role, attempt.model)
    )
    return [ModelCalls(*row) for row in connection.execute(query)]


WHITESPACE = "".join(filter(str.isspace, map(chr, range(1, 0x3001))))
"""All characters that ``str.strip`` removes."""


def empty_answers(
    connection: Connection, runs: Sequence[Run], labels: Sequence[str]
) -> Iterator[EmptyAnswers]:
    """Yield the runs, by their labels, and the tasks of which more than 2 % of the answers are empty."""
    response = tables.response.c
    is_empty = func.ltrim(response.text, WHITESPACE) == ""
    query = (
        select(response.run_id, response.task, func.sum(case((is_empty, 1), else_=0)), func.count())
        .where(response.run_id.in_([run.id for run in runs]))
        .group_by(response.run_id, response.task)
        .order_by(response.run_id, response.task)
    )
    rows = connection.execute(query).all()
    for run, label in zip(runs, labels, strict=True):
        counts = (EmptyAnswers(label, task, empty, n) for run_id, task, empty, n in rows if run_id == run.id)
        yield from (item for item in counts if item.is_finding)

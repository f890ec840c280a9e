"""Queries for the scores and failures of runs."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, or_, select

from hengwen.store import tables
from hengwen.store.codecs.evaluations import (
    TEXT_COLUMNS,
    Evaluator,
    evaluator_from,
    notes_from,
    rows_from,
    statuses_from,
)
from hengwen.store.database import store_errors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Engine, Select

    from hengwen.records import Kind, Row, Run
    from hengwen.score_id import ScoreId


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
    evaluators: dict[int, Evaluator] = {}
    with store_errors(engine), engine.connect() as connection:
        result = connection.execution_options(yield_per=FETCH_SIZE).execute(select_evaluations(*conditions))
        for columns in result.mappings():
            evaluator = evaluators.get(columns["evaluator_id"])
            if evaluator is None:
                evaluator = evaluators[columns["evaluator_id"]] = evaluator_from(columns)
            yield from rows_from(columns, evaluator, run.checkpoint)


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

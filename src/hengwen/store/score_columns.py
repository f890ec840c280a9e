"""Read the scores and failures of a run into columns, without building a record for each score."""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from sys import intern
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import case, or_, select

from hengwen.results.score_table import STATUS_CODES, AnswerKeys, ScoreTable, SeriesKey
from hengwen.store import tables
from hengwen.store.codecs.evaluations import Evaluator, notes_from, statuses_from
from hengwen.store.database import store_errors
from hengwen.store.score_queries import FETCH_SIZE, read_evaluators

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy import Connection, Engine, Row, Select

    from hengwen.records import Run
    from hengwen.score_id import ScoreId

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
            by_series: dict[int, list[Row[Any]]] = {}
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

    def add(self, evaluator: Evaluator, rows: Sequence[Row[Any]]) -> None:
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
        for index, text in enumerate(statuses):
            if text:
                codes[index] = [STATUS_CODES[status] for status in _statuses(text, count)]
        texts = Counter(
            (
                row.notes if row.notes_id is None else self._notes[row.notes_id],
                row.statuses,
                not row.sample_id,
            )
            for row in rows
            if row.is_read and (row.notes or row.notes_id is not None)
        )
        for position, (score, scale) in enumerate(zip(evaluator.scores, evaluator.scales, strict=True)):
            if not self.reads(score):
                continue
            column = self.table.column(SeriesKey(self._run.id, score, evaluator.kind))
            column.extend(keys, values[:, position], codes[:, position], evaluator.signature)
            column.scale = column.scale or scale
            for (notes, of_scores, is_group_score), times in texts.items():
                text, more = _notes(notes, count)[position]
                status = _statuses(of_scores, count)[position]
                if status != "ok":
                    column.record_message(status, text)
                elif more:
                    column.read_details(evaluator.kind, more, is_group_score=is_group_score, times=times)


@lru_cache(maxsize=FETCH_SIZE)
def _notes(text: str, count: int) -> list[Any]:
    return notes_from(text, count)


@lru_cache(maxsize=64)
def _statuses(text: str, count: int) -> list[str]:
    return statuses_from(text, count)


def _query(run: Run, evaluator_ids: Sequence[int]) -> Select[Any]:
    """Return the query for the evaluations that some evaluators gave in a run."""
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

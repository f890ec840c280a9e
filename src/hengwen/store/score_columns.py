"""Read the scores and failures of a run into columns, without building a record for each row."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, case, or_, select, tuple_

from hengwen.results.score_table import ScoreTable, SeriesKey
from hengwen.store import codec, tables
from hengwen.store.database import store_errors

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Engine, Select

    from hengwen.records import Kind, Run
    from hengwen.results.score_table import Column

FETCH_SIZE = 5_000
"""Number of rows that are fetched from the database at a time."""


def read_columns(engine: Engine, run: Run, scores: Collection[tuple[str, str]] | None = None) -> ScoreTable:
    """Return the scores and failures of a run as a table, without most details of the scores.

    Args:
        engine: A database with the current schema.
        run: The run.
        scores: Tasks and names of the scores to read; default: all scores.
    """
    table = ScoreTable()
    columns: dict[tuple[str, str, Kind], Column] = {}
    with store_errors(engine), engine.connect() as connection:
        result = connection.execution_options(yield_per=FETCH_SIZE).execute(_query(run, scores))
        for rows in result.partitions():
            for task, name, kind, sample, repeat, cluster, status, value, signature, scale, text in rows:
                column = columns.get((task, name, kind))
                if column is None:
                    column = columns[task, name, kind] = table.column(SeriesKey(run.id, task, name, kind))
                column.append(sample or None, repeat or None, cluster, status, value, signature)
                if status != "ok":
                    column.record_message(status, text)
                    continue
                if scale and column.scale is None:
                    column.scale = codec.scale_from(scale)
                if text:
                    column.read_details(kind, json.loads(text), is_group_score=not sample)
    return table


def _query(run: Run, scores: Collection[tuple[str, str]] | None) -> Select[Any]:
    """Return the query; its last column is the message of a failure, or the details of a score as JSON."""
    row = tables.row
    has_details = and_(row.c.status == "ok", or_(row.c.kind == "judge", row.c.sample_id == ""))
    text = case((row.c.status != "ok", row.c.reason), (has_details, row.c.details), else_="")
    names = (
        "task",
        "name",
        "kind",
        "sample_id",
        "repeat",
        "cluster",
        "status",
        "value",
        "signature",
        "scale",
    )
    query = select(*(row.c[name] for name in names), text).where(row.c.run_id == run.id).order_by(row.c.id)
    if scores is None:
        return query
    return query.where(tuple_(row.c.task, row.c.name).in_(list(scores)))

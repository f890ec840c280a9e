"""Many rows into a table at once: the statement is compiled once, the driver does the rest."""

from __future__ import annotations

from contextlib import closing
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import literal, select, text

from hengwen.store import tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Dialect, Table

    from hengwen.protocols import DoneKey

PLACES = {
    "run": ("id",),
    "sample": ("hash",),
    "response": ("run_id", "task", "sample_id", "repeat"),
    "prompt": ("hash",),
    "attempt": ("call_key", "scope", "number"),
    "row": ("run_id", "task", "sample_id", "repeat", "name"),
}
"""What is unique in a table: a later row replaces an earlier one there; a good attempt is never replaced."""


def upsert(connection: Connection, table: Table, values: Sequence[dict[str, Any]]) -> None:
    """Write rows, in the place of earlier ones that stand where they do.

    Args:
        connection: In a transaction.
        table: One of ``PLACES``.
        values: Each with all columns of the table, but an ``id`` that the database gives.
    """
    if not values:
        return
    statement, order = _compiled(table, connection.dialect)
    rows = list(values) if order is None else [*map(itemgetter(*order), values)]
    # by the driver's own cursor, in the transaction of the connection: SQLAlchemy would make a result of it
    with closing(connection.connection.cursor()) as cursor:
        cursor.executemany(statement, rows)


@lru_cache(maxsize=64)
def _compiled(table: Table, dialect: Dialect) -> tuple[str, tuple[str, ...] | None]:
    """The statement as text, and the order of its parameters where the driver wants them by position."""
    place = PLACES[table.name]
    own = [column.name for column in table.columns if column.name != "id" or "id" in place]
    statement = _insert(table, dialect.name)
    fresh = _fresh(statement, own, place)
    where = text("attempt.status <> 'ok'") if table is tables.attempt else None
    statement = statement.on_conflict_do_update(index_elements=list(place), set_=fresh, where=where)
    compiled = statement.compile(dialect=dialect, column_keys=own)
    order = tuple(compiled.positiontup) if compiled.positional else None
    return str(compiled), order


def copy_rows(connection: Connection, run_id: str, source: str, key: DoneKey) -> None:
    """Copy the rows behind a key into a run, in the place of what failed there.

    Args:
        connection: In a transaction.
        run_id: Where they go.
        source: The run that has them.
        key: Which they are.
    """
    row = tables.row
    names = [column.name for column in row.columns if column.name not in ("id", "run_id")]
    found = select(literal(run_id), *(row.c[name] for name in names)).where(*behind(source, key))
    statement = _insert(row, connection.dialect.name).from_select(["run_id", *names], found)
    place = PLACES["row"]
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=list(place), set_=_fresh(statement, ["run_id", *names], place)
        )
    )


def behind(run_id: str, key: DoneKey) -> tuple[ColumnElement[bool], ...]:
    """What is true of the rows of a run behind a key.

    Args:
        run_id: Of the run.
        key: Which they are.
    """
    row = tables.row
    task, sample_id, repeat, signature, item_hash = key
    return (
        row.c.run_id == run_id,
        row.c.task == task,
        row.c.sample_id == (sample_id or ""),
        row.c.repeat == (repeat or 0),
        row.c.signature == signature,
        row.c.item_hash == item_hash,
    )


def _fresh(statement: Any, names: Sequence[str], place: Sequence[str]) -> dict[str, Any]:
    """What a later row brings to the place of an earlier one."""
    return {name: statement.excluded[name] for name in names if name not in place}


def _insert(table: Table, dialect: str) -> Any:
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as postgresql_insert

        return postgresql_insert(table)
    from sqlalchemy.dialects.sqlite import insert as sqlite_insert

    return sqlite_insert(table)

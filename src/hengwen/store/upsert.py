"""Many rows into a table at once: the statement is compiled once, the driver does the rest."""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import literal, select, text

from hengwen.store import tables
from hengwen.store.database import guard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Dialect, Engine, Table

    from hengwen.protocols import EvaluationKey

PLACES = {
    "run": ("id",),
    "sample": ("hash",),
    "response": ("run_id", "task", "sample_id", "repeat"),
    "prompt": ("hash",),
    "attempt": ("call_key", "scope", "number"),
    "row": ("run_id", "task", "sample_id", "repeat", "name"),
}
"""What is unique in a table: a later row replaces an earlier one there; a good attempt is never replaced."""


class Writer:
    """Transactions by one connection that stays open: to take one from the pool is a tenth of a small commit.

    Args:
        engine: Of the database.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction; it is committed at the end, or all of it is undone.

        Raises:
            StoreError: Nothing of it was written.
        """
        with guard(self._engine):
            if self._connection is None:
                self._connection = self._engine.connect()
            try:
                with self._connection.begin():
                    yield self._connection
            except BaseException:
                self.close()  # it may be what is broken
                raise

    def close(self) -> None:
        """Give the connection back; the next transaction takes another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def upsert(cursor: Any, dialect: Dialect, table: Table, values: Sequence[dict[str, Any]]) -> None:
    """Write rows, in the place of earlier ones that stand where they do.

    Args:
        cursor: Of the driver, in a transaction: SQLAlchemy would make a result of each statement.
        dialect: Of the database.
        table: One of ``PLACES``.
        values: Each with all columns of the table, but an ``id`` that the database gives.
    """
    if not values:
        return
    statement, order = _compiled(table, dialect)
    cursor.executemany(statement, list(values) if order is None else [*map(itemgetter(*order), values)])


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


def copy_rows(connection: Connection, run_id: str, source: str, key: EvaluationKey) -> None:
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


def behind(run_id: str, key: EvaluationKey) -> tuple[ColumnElement[bool], ...]:
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

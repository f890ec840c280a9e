"""Write many rows into a table at once; each statement is compiled only once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Dialect, Engine, Table, literal, select, text

from hengwen.errors import StoreError
from hengwen.protocols import EvaluationKey
from hengwen.store import tables
from hengwen.store.database import display_url, store_errors

UNIQUE_COLUMNS = {
    **{name: tuple(table.primary_key.columns.keys()) for name, table in tables.metadata.tables.items()},
    "evaluation": ("run_id", "sample_id", "repeat", "series_id"),
}
"""Columns by which a later row replaces an earlier one; a successful attempt is never replaced."""
IMMUTABLE = ("sample", "prompt", "evaluator", "note")
"""Tables whose key is a hash of the other columns, so that rows with equal keys are equal."""


class Writer:
    """Open transactions on one connection, which stays open."""

    # Taking a connection from the pool for each transaction would cost a tenth of a small commit.

    def __init__(self, engine: Engine, *, read_only: bool = False) -> None:
        self._engine = engine
        self._read_only = read_only
        self._connection: Connection | None = None

    def check_writable(self) -> None:
        """Raise if the database is read-only, so that no work is done whose result cannot be stored."""
        if self._read_only:
            name = display_url(self._engine.url)
            raise StoreError(
                f"{name}: is read-only; copy it to another folder, or name another store with --store"
            )

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """Open a transaction that is committed when the ``with`` block ends, and rolled back on an error."""
        with store_errors(self._engine):
            if self._connection is None:
                self._connection = self._engine.connect()
            try:
                with self._connection.begin():
                    yield self._connection
            except BaseException:
                self.close()  # the connection may be broken
                raise

    def write(self, *tables_with_rows: tuple[Table, Sequence[dict[str, Any]]]) -> None:
        """Write rows into tables, in this order and in one transaction; see ``upsert``."""
        with self.begin() as connection, closing(connection.connection.cursor()) as cursor:
            for table, rows in tables_with_rows:
                upsert(cursor, connection.dialect, table, rows)

    def close(self) -> None:
        """Return the connection to the pool; the next transaction takes a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def upsert(cursor: Any, dialect: Dialect, table: Table, values: Sequence[dict[str, Any]]) -> None:
    """Write rows; each replaces an earlier row that has the same values in ``UNIQUE_COLUMNS``."""
    if not values:
        return
    statement, order = _compiled(table, dialect)
    rows = list(values)
    if table is not tables.evaluation:
        rows.sort(key=itemgetter(*UNIQUE_COLUMNS[table.name]))
    cursor.executemany(statement, rows if order is None else [*map(itemgetter(*order), rows)])


@lru_cache(maxsize=64)
def _compiled(table: Table, dialect: Dialect) -> tuple[str, tuple[str, ...] | None]:
    """Return the SQL statement of ``upsert`` for a table, and the order of its parameters."""
    unique = UNIQUE_COLUMNS[table.name]
    names = [column.name for column in table.columns if column.name != "id" or "id" in unique]
    statement = _insert(table, dialect.name)
    if table.name in IMMUTABLE:
        statement = statement.on_conflict_do_nothing(index_elements=list(unique))
    else:
        update = _replaced_columns(statement, names, unique)
        where = text("attempt.status <> 'ok'") if table is tables.attempt else None
        statement = statement.on_conflict_do_update(index_elements=list(unique), set_=update, where=where)
    compiled = statement.compile(dialect=dialect, column_keys=names)
    order = tuple(compiled.positiontup) if compiled.positional else None
    return str(compiled), order


def copy_evaluations(connection: Connection, run_id: str, source: str, key: EvaluationKey) -> None:
    """Copy the scores of an evaluation from one run into another; they replace failures there."""
    evaluation = tables.evaluation
    names = [column.name for column in evaluation.columns if column.name not in ("id", "run_id")]
    columns = (evaluation.c[name] for name in names)
    copied = select(literal(run_id), *columns).where(*conditions_of(source, key))
    statement = _insert(evaluation, connection.dialect.name).from_select(["run_id", *names], copied)
    unique = UNIQUE_COLUMNS["evaluation"]
    update = _replaced_columns(statement, ["run_id", *names], unique)
    connection.execute(statement.on_conflict_do_update(index_elements=list(unique), set_=update))


def conditions_of(run_id: str, key: EvaluationKey) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that select an evaluation in a run."""
    evaluation, evaluator = tables.evaluation, tables.evaluator
    task, sample_id, repeat, signature, item_hash = key
    evaluators = select(evaluator.c.id).where(evaluator.c.task == task, evaluator.c.signature == signature)
    return (
        evaluation.c.run_id == run_id,
        evaluation.c.sample_id == (sample_id or ""),
        evaluation.c.repeat == (repeat or 0),
        evaluation.c.evaluator_id.in_(evaluators),
        evaluation.c.item_hash == item_hash,
    )


def _replaced_columns(statement: Any, names: Sequence[str], unique: Sequence[str]) -> dict[str, Any]:
    """Return the columns that a later row overwrites, with the values of that row."""
    return {name: statement.excluded[name] for name in names if name not in unique}


def _insert(table: Table, dialect: str) -> Any:
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as postgresql_insert

        return postgresql_insert(table)
    from sqlalchemy.dialects.sqlite import insert as sqlite_insert

    return sqlite_insert(table)

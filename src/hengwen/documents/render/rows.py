"""The tables of a document as plain rows, and the rows as CSV or Parquet."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, NamedTuple

from hengwen.documents.blocks import Decision, Details, Scores, Table
from hengwen.documents.render.score_table import plain_table
from hengwen.errors import ConfigError, PluginError
from hengwen.text.language import in_language
from hengwen.text.numbers import NOTHING
from hengwen.text.safety import no_formula, strip_controls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hengwen.documents.blocks import Block, Cell, Column, Document, Value
    from hengwen.text.language import Language


class Rows(NamedTuple):
    """Rows with the same columns; None where a row has no value."""

    columns: list[str]
    rows: list[list[Value]]


def to_rows(document: Document, language: Language) -> Rows:
    """Return the rows of all tables of a document; of several tables with the column ``table`` first."""
    tables = list(_tables(document.blocks))
    if not tables:
        raise ConfigError("this result has no table; write .html, .md or .json")
    records = [(table, record) for table in tables for record in _records(table, language)]
    columns: dict[str, None] = {}
    for table in tables:
        keys = [key for owner, record in records if owner is table for key in record]
        columns |= dict.fromkeys(keys or [_name(column) for column in table.columns])
    names = list(columns)
    rows = [[record.get(name) for name in names] for _, record in records]
    if len(tables) < 2:
        return Rows(names, rows)
    return Rows(["table", *names], [[table.key, *row] for (table, _), row in zip(records, rows, strict=True)])


def to_csv(document: Document, language: Language) -> str:
    """Return the rows of a document as CSV text that no spreadsheet runs as a formula."""
    columns, rows = to_rows(document, language)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(_csv_value, columns))
    writer.writerows([_csv_value(value) for value in row] for row in rows)
    return file.getvalue()


def to_parquet(document: Document, language: Language) -> bytes:
    """Return the rows of a document as a Parquet file."""
    check_parquet()
    import pyarrow
    from pyarrow import parquet

    columns, rows = to_rows(document, language)
    data = {name: _column([row[i] for row in rows]) for i, name in enumerate(columns)}
    file = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table(data), file)
    content: bytes = file.getvalue().to_pybytes()
    return content


def check_parquet() -> None:
    """Check that Parquet files can be written."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise PluginError("Parquet files need pyarrow: pip install 'hengwen[parquet]'") from None


def _tables(blocks: Sequence[Block]) -> Iterator[Table]:
    for block in blocks:
        match block:
            case Table():
                yield block
            case Scores():
                yield plain_table(block)
            case Decision():
                yield from () if block.scores is None else [plain_table(block.scores)]
                yield from _tables(block.details)
            case Details():
                yield from _tables(block.blocks)


def _records(table: Table, language: Language) -> Iterator[dict[str, Value]]:
    for values in table.records:
        yield {strip_controls(key): _clean(value) for key, value in values.items()}
    for row in () if table.records else table.rows:
        record: dict[str, Value] = {}
        for column, cell in zip(table.columns, row, strict=True):
            for key, value in _values(cell, language).items():
                record[_name(column, key)] = value
        yield record


def _name(column: Column, key: str = "") -> str:
    return strip_controls(f"{column.key}_{key}" if key else column.key)


def _values(cell: Cell, language: Language) -> dict[str, Value]:
    text = strip_controls(in_language(cell.text, language))
    values = dict(cell.values) or {"": None if text in ("", NOTHING) else text}
    return {key: _clean(value) for key, value in values.items()}


def _clean(value: Value) -> Value:
    return strip_controls(value) if isinstance(value, str) else value


def _csv_value(value: Value) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return no_formula(strip_controls(value)) if isinstance(value, str) else value


def _column(values: list[Value]) -> list[Value]:
    """Return the values of a column of one type: numbers as they are, a mixture as text."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 or kinds == {int, float}:
        return [float(value) if kinds == {int, float} and value is not None else value for value in values]
    return [None if value is None else str(value) for value in values]

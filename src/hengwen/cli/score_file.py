"""Read the scores of a file or of standard input, for commands that take a sequence of scores."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hengwen.io.row_reader import DataRow

FILE_HELP = "one score per line; '-' for standard input; or .jsonl or .csv with --column."
COLUMN_HELP = "Field of a .jsonl or .csv row that holds the score; with '-', of a JSON object per line."


def read_scores(file: Path, column: str | None) -> Iterator[tuple[DataRow, float]]:
    """Yield each row and its score. A line is read only when its score is needed."""
    from hengwen.io.row_reader import read_number

    for row in _rows(file, column):
        yield row, read_number(row, column or "number")


def _rows(file: Path, column: str | None) -> Iterator[DataRow]:
    from hengwen.errors import DataError
    from hengwen.io.row_reader import bounded_lines, number_rows, open_data_file, read_rows, scan_jsonl

    if str(file) == "-" and column is not None:
        for row in scan_jsonl(bounded_lines(sys.stdin.buffer), file):
            if isinstance(row, DataError):
                raise row
            yield row
    elif str(file) == "-":
        yield from number_rows(bounded_lines(sys.stdin.buffer), file)
    elif file.suffix.lower() in (".jsonl", ".ndjson", ".csv"):
        if column is None:
            raise typer.BadParameter(f"{file} has several fields; name one with --column")
        yield from read_rows(file)
    elif column is not None:
        raise typer.BadParameter("--column is for .jsonl and .csv files")
    else:
        with open_data_file(file) as lines:
            yield from number_rows(bounded_lines(lines), file)

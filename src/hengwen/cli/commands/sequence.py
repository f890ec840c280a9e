"""``hengwen sequence FILE|-``, which reads scores in order."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hengwen.cli.ui import options
from hengwen.cli.ui.output import Face
from hengwen.errors import DataError

if TYPE_CHECKING:
    from hengwen.io.row_reader import DataRow


FILE_HELP = "one score per line; '-' for standard input; or .jsonl or .csv with --column."
COLUMN_HELP = "Field of a .jsonl or .csv row that holds the score; with '-', of a JSON object per line."


def read_scores(file: Path, column: str | None) -> Iterator[tuple[DataRow, float]]:
    """Yield each row and its score. A line is read only when its score is needed."""
    from hengwen.io.row_reader import read_number

    for row in _rows(file, column):
        yield row, read_number(row, column or "")


def _rows(file: Path, column: str | None) -> Iterator[DataRow]:
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


def sequence(
    file: Annotated[Path, typer.Argument(help=f"Scores in order, {FILE_HELP}")],
    column: Annotated[str | None, typer.Option("--column", help=COLUMN_HELP)] = None,
    m: Annotated[int, typer.Option("-m", min=2, max=10, help="Length of an ordinal pattern.")] = 3,
    delay: Annotated[
        int, typer.Option("--delay", min=1, help="Distance between the scores of a pattern.")
    ] = 1,
    top: Annotated[
        float | None, typer.Option("--top", help="Lowest score of the top box; default: the maximum.")
    ] = None,
    seed: options.Seed = 0,
    *,
    face: Face,
) -> None:
    """Describe a sequence of scores: level, permutation entropy, inversions, increasing subsequence."""
    from hengwen.documents.metrics import sequence_document
    from hengwen.relevance_metrics import summarize

    face.check([file])
    scores = [score for _, score in read_scores(file, column)]
    try:
        summary = summarize(scores, m=m, delay=delay, top=top, seed=seed)
    except ValueError as error:
        raise DataError(f"{file}: {error}") from None
    face.show(sequence_document(summary), face.language())

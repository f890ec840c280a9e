"""Write rows to JSONL and CSV files one by one; the finished file appears when all rows are written."""

from __future__ import annotations

import csv
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError
from hengwen.io.output_target import atomic_write, check_output
from hengwen.text.safety import no_formula, replace_controls, replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import IO

JsonRow = dict[str, Any]
FORMATS = (".jsonl", ".csv")


def check_target(target: Path, inputs: Iterable[Path] = ()) -> None:
    """Check that a file name has the ending of a known format, and that the file can be written."""
    if target.suffix.lower() not in FORMATS:
        known = ", ".join(FORMATS)
        raise ConfigError(f"cannot tell the format of {str(target)!r}; name it with one of {known}")
    check_output(target, inputs)


@contextmanager
def row_writer(target: Path, header: list[str]) -> Iterator[Callable[[JsonRow], None]]:
    """Yield a row writer; the file appears when the ``with`` block ends without an error."""
    with (
        atomic_write(target) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        yield _csv_writer(file, header) if target.suffix.lower() == ".csv" else _jsonl_writer(file)


def _jsonl_writer(file: IO[str]) -> Callable[[JsonRow], None]:
    def write(row: JsonRow) -> None:
        file.write(replace_surrogates(json.dumps(row, ensure_ascii=False)) + "\n")

    return write


def _csv_writer(file: IO[str], header: list[str]) -> Callable[[JsonRow], None]:
    writer = csv.DictWriter(file, header, lineterminator="\n")
    quoting_writer = csv.DictWriter(file, header, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()

    def write(row: JsonRow) -> None:
        cells = {name: spreadsheet_safe(value) for name, value in row.items()}
        has_return = any(isinstance(cell, str) and "\r" in cell for cell in cells.values())
        # the csv module quotes carriage returns only if the line terminator contains one
        (quoting_writer if has_return else writer).writerow(cells)

    return write


def spreadsheet_safe(value: object) -> object:
    """Return a value as the text of a CSV cell."""
    if isinstance(value, (list, dict, bool)):
        value = json.dumps(value, ensure_ascii=False)
    return no_formula(replace_controls(value)) if isinstance(value, str) else value

"""Rows into JSONL and CSV files, as they come; the file is there when all of them are."""

from __future__ import annotations

import csv
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import IO

JsonRow = dict[str, Any]
OUTPUTS = (".jsonl", ".csv")


def check_target(target: Path) -> None:
    """Refuse a file name that tells no format.

    Raises:
        ConfigError: It ends neither in .jsonl nor in .csv.
    """
    if target.suffix.lower() not in OUTPUTS:
        known = ", ".join(OUTPUTS)
        raise ConfigError(f"cannot tell the format of {str(target)!r}; name it with one of {known}")


@contextmanager
def row_writer(target: Path, header: list[str]) -> Iterator[Callable[[JsonRow], None]]:
    """Write to a file beside the target, and move it there when all went well."""
    beside = target.with_name(f".{target.name}.part")
    try:
        with beside.open("w", encoding="utf-8", newline="") as file:
            yield _csv_writer(file, header) if target.suffix.lower() == ".csv" else _jsonl_writer(file)
        beside.replace(target)
    except OSError as error:
        raise ConfigError(f"{target}: cannot be written: {error.strerror}") from None
    finally:
        beside.unlink(missing_ok=True)


def _jsonl_writer(file: IO[str]) -> Callable[[JsonRow], None]:
    def write(row: JsonRow) -> None:
        file.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n")

    return write


def _csv_writer(file: IO[str], header: list[str]) -> Callable[[JsonRow], None]:
    writer = csv.DictWriter(file, header, lineterminator="\n")
    quoting = csv.DictWriter(file, header, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()

    def write(row: JsonRow) -> None:
        cells = {name: spreadsheet_safe(value) for name, value in row.items()}
        returns = any(isinstance(cell, str) and "\r" in cell for cell in cells.values())
        (quoting if returns else writer).writerow(cells)  # csv quotes no \r that is not its own

    return write


def spreadsheet_safe(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula: text that looks like one gets a quote in front.

    Examples:
        >>> spreadsheet_safe("=cmd()"), spreadsheet_safe("a"), spreadsheet_safe(-1.5)
        ("'=cmd()", 'a', -1.5)
    """
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()
        return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
    return value

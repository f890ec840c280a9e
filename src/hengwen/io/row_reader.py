"""Rows of JSONL and CSV files, streamed; every complaint names file and line."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, NoReturn

from hengwen.errors import ConfigError, DataError, did_you_mean
from hengwen.io.yaml_config import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_DECODER = json.JSONDecoder()
LONGEST_CELL = 2**31 - 1
"""Characters in a CSV cell; the csv module's own limit of 131,072 is too short for long answers."""


@dataclass(frozen=True, slots=True)
class DataRow:
    """One row of a data file and where it stands."""

    path: Path
    number: int
    values: Mapping[str, Any]

    def fail(self, message: str) -> NoReturn:
        """Raise a DataError that names file and line."""
        raise DataError(self.place(message), line=self.number)

    def place(self, message: str) -> str:
        """Return a message that names file and line."""
        return f"{self.path}:{self.number}: {message}"

    def text(self, name: str, default: str | None = None) -> str:
        """Return a field as text, or fail."""
        value = self.values.get(name, default)
        if value is None or value == "":
            if default is not None:
                return default
            self.fail(f"field {name!r} is missing")
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            self.fail(f"field {name!r} must be text, got {type(value).__name__}")
        return str(value)

    def whole(self, name: str, default: int) -> int:
        """Return a field as a whole number >= 1, or fail."""
        value = self.values.get(name)
        if value is None or value == "":
            return default
        try:
            number = int(str(value))
        except ValueError:
            self.fail(f"field {name!r} must be a whole number, got {value!r}")
        if number < 1:
            self.fail(f"field {name!r} counts from 1, got {number}")
        return number


def read_rows(path: Path, columns: Mapping[str, str] | None = None) -> Iterator[DataRow]:
    """Yield the rows of a JSONL or CSV file, by its ending.

    Args:
        path: ``.jsonl`` (``.ndjson``) or ``.csv``; UTF-8.
        columns: Foreign names to ours, such as ``{"lyric": "output", "template": "metadata.template"}``.

    Raises:
        DataError: The file is missing, empty, not UTF-8, of another kind, or a row is malformed.
    """
    for row in scan_rows(path, columns):
        if isinstance(row, DataError):
            raise row
        yield row


def scan_rows(path: Path, columns: Mapping[str, str] | None = None) -> Iterator[DataRow | DataError]:
    """Yield the rows of a file, and in the place of each malformed one its error: the rest goes on.

    Args:
        path: As in ``read_rows``.
        columns: As in ``read_rows``.

    Raises:
        DataError: The file is missing, empty, of another kind, or its header is wrong.
    """
    readers = {".jsonl": _scan_jsonl, ".ndjson": _scan_jsonl, ".csv": _scan_csv}
    scan = readers.get(path.suffix.lower())
    if scan is None:
        raise DataError(f"{path}: expected a .jsonl or .csv file")
    found = False
    try:
        with path.open("rb") as file:
            for row in scan(file, path):
                found = True
                yield _renamed(row, columns) if columns and isinstance(row, DataRow) else row
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    if not found:
        raise DataError(f"{path}: no rows")


def _scan_jsonl(file: Iterable[bytes], path: Path) -> Iterator[DataRow | DataError]:
    for number, raw in enumerate(file, start=1):
        try:
            text = decode(raw, path, number).strip()
            if text:
                yield DataRow(path, number, _object(text, path, number))
        except (ConfigError, DataError) as error:
            yield DataError(str(error), line=number)


def _object(text: str, path: Path, number: int) -> dict[str, Any]:
    try:
        values, end = _DECODER.raw_decode(text)
        if end < len(text):
            json.loads(text)  # says what is wrong
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{number}: not valid JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise DataError(f"{path}:{number}: nested too deeply") from None
    if not isinstance(values, dict):
        raise DataError(f"{path}:{number}: expected an object, got {type(values).__name__}")
    return values


def _scan_csv(file: Iterable[bytes], path: Path) -> Iterator[DataRow | DataError]:
    csv.field_size_limit(LONGEST_CELL)
    texts = (decode(raw, path, number) for number, raw in enumerate(file, start=1))
    reader = csv.reader(texts, strict=True)
    start = 1
    try:
        header = next(reader, None)
        if header is None:
            return
        if len(set(header)) != len(header):
            raise DataError(f"{path}:1: a column name repeats: {', '.join(header)}")
        start = reader.line_num + 1
        for cells in reader:
            if len(cells) == len(header):
                yield DataRow(path, start, dict(zip(header, cells, strict=True)))
            elif cells:
                message = f"{path}:{start}: {len(cells)} cells, but the header has {len(header)}"
                yield DataError(message, line=start)
            start = reader.line_num + 1
    except csv.Error as error:  # where the next row begins is not known any more
        raise DataError(f"{path}:{start}: not valid CSV: {error}") from None
    except ConfigError as error:
        raise DataError(str(error)) from None


def _renamed(line: DataRow, columns: Mapping[str, str]) -> DataRow | DataError:
    try:
        return _rename(line, columns)
    except DataError as error:
        return error


def _rename(line: DataRow, columns: Mapping[str, str]) -> DataRow:
    values: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for name, value in line.values.items():
        target = columns.get(name, name)
        group, _, leaf = target.partition(".")
        if group == "metadata" and leaf:
            inner[leaf] = value
        elif target in values:
            line.fail(f"two columns are mapped to {target!r}")
        else:
            values[target] = value
    for name in columns:
        if name not in line.values:
            line.fail(f"columns: maps {name!r}, which is not there{did_you_mean(name, line.values)}")
    if inner:
        own = values.get("metadata") or {}
        values["metadata"] = {**own, **inner} if isinstance(own, dict) else inner
    return DataRow(line.path, line.number, values)


def read_number(line: DataRow, name: str) -> float:
    """Return a field of a row as a finite number.

    Raises:
        DataError: It is missing, no number, or not finite; the message names file and line.
    """
    value = line.values.get(name)
    if value is None:
        line.fail(f"field {name!r} is missing{did_you_mean(name, line.values)}")
    try:
        number = float(str(value)) if not isinstance(value, bool) else nan
    except ValueError:
        line.fail(f"field {name!r} must be a number, got {value!r}")
    if not isfinite(number):
        line.fail(f"field {name!r} must be a finite number, got {value!r}")
    return number


def read_numbers(raw: bytes, path: Path) -> list[float]:
    """Read a text of one number a line; blank lines are passed over.

    Args:
        raw: UTF-8.
        path: For messages.

    Raises:
        DataError: A line is no finite number; the message names it.

    Examples:
        >>> from pathlib import Path
        >>> read_numbers(b"5\\n4.5\\n\\n", Path("x.txt"))
        [5.0, 4.5]
    """
    try:
        texts = enumerate(decode(raw, path).splitlines(), start=1)
    except ConfigError as error:
        raise DataError(str(error)) from None
    lines = [DataRow(path, number, {"number": text.strip()}) for number, text in texts if text.strip()]
    return [read_number(line, "number") for line in lines]

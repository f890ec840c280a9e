"""Read the rows of JSONL and CSV files one by one; every error names file and line."""

from __future__ import annotations

import csv
import difflib
import json
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from math import isfinite, nan
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from hengwen.errors import ConfigError, DataError, did_you_mean
from hengwen.io.strict_yaml import decode, read_errors
from hengwen.io.untrusted_json import parse_json
from hengwen.text.numbers import replace_surrogates, short_repr

_NOT_LINES = {
    "[": "a JSON array, but each line must be an object of its own; try: jq -c '.[]' FILE > FILE.jsonl",
    "{": "an object over several lines, but each must be on one line; try: jq -c . FILE > FILE.jsonl",
}
"""Error messages for JSON that is not JSONL: ``[`` for an array, ``{`` for an object over several lines."""
MAX_LINE = 16 << 20
"""Maximum number of bytes of a line, and of a row of CSV, which may have several lines."""
MAX_COMMAS = 500_000
"""Maximum number of commas in a line of CSV, because each may begin a cell."""
MAX_COUNT = 1_000_000
"""Maximum value of a whole number in a field, such as ``repeat``."""
MAX_NAMES_LISTED = 8
"""Maximum number of fields of a row that a message lists."""


@dataclass(frozen=True, slots=True)
class DataRow:
    """One row of a data file, with its file and line number."""

    path: Path
    number: int
    values: Mapping[str, Any]

    def fail(self, message: str) -> NoReturn:
        """Raise a DataError with file and line."""
        raise DataError(self.locate(message), line=self.number)

    def locate(self, message: str) -> str:
        """Put the file and line of this row in front of a message."""
        return f"{self.path}:{self.number}: {message}"

    def required_text(self, name: str) -> str:
        """Return a field as text."""
        return self.text(name) or self.missing(name)

    def missing(self, name: str, kind: str = "") -> NoReturn:
        """Raise a DataError because a field is missing; the message lists the fields of the row."""
        if kind and self.values.get(name) is not None:
            self.fail(f"field {name!r} must be {kind}, got {type(self.values[name]).__name__}")
        if name in self.values:
            self.fail(f"field {name!r} is missing (it is empty)")
        names = sorted(self.values)
        listed = ", ".join(names[:MAX_NAMES_LISTED]) + (", ..." if len(names) > MAX_NAMES_LISTED else "")
        self.fail(f"field {name!r} is missing; the row has: {listed or 'nothing'}")

    def text(self, name: str, default: str = "") -> str:
        """A field as text, or the default if it is missing or empty; a lone surrogate becomes U+FFFD."""
        value = self.values.get(name)
        if value is None or value == "":
            return default
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            self.fail(f"field {name!r} must be text, got {type(value).__name__}")
        return replace_surrogates(str(value))

    def positive_int(self, name: str) -> int:
        """Return a field as a whole number from 1 to ``MAX_COUNT``; 1 if it is missing."""
        value = self.values.get(name)
        if value is None or value == "":
            return 1
        try:
            number = int(str(value))
        except ValueError:
            self.fail(f"field {name!r} must be a whole number, got {short_repr(value)}")
        if number < 1:
            self.fail(f"field {name!r} counts from 1, got {number}")
        if number > MAX_COUNT:
            self.fail(f"field {name!r} is at most {MAX_COUNT}, got {short_repr(number)}")
        return number


def read_rows(path: Path, columns: Mapping[str, str] | None = None) -> Iterator[DataRow]:
    """Yield the rows of a JSONL or CSV file."""
    for row in scan_rows(path, columns):
        if isinstance(row, DataError):
            raise row
        yield row


def scan_rows(path: Path, columns: Mapping[str, str] | None = None) -> Iterator[DataRow | DataError]:
    """Yield the rows of a file; for a malformed row, yield its error instead."""
    scanners = {".jsonl": scan_jsonl, ".ndjson": scan_jsonl, ".csv": _scan_csv}
    scan = scanners.get(path.suffix.lower())
    if scan is None:
        raise DataError(f"{path}: expected a .jsonl or .csv file{_conversion(path)}")
    is_empty = True
    with open_data_file(path) as file:
        for row in scan(bounded_lines(file), path):
            is_empty = False
            yield rename_columns(row, columns) if columns and isinstance(row, DataRow) else row
    if is_empty:
        raise DataError(f"{path}: no rows")


@contextmanager
def open_data_file(path: Path) -> Iterator[BufferedReader]:
    """Open a file to read its bytes."""
    with read_errors(path, DataError), path.open("rb") as file:
        status = os.fstat(file.fileno())
        is_device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
        if is_device and not file.isatty() and not os.path.samestat(status, os.stat(os.devnull)):
            raise DataError(f"{path}: is a device, which may have no end; name a file")
        yield file


def _conversion(path: Path) -> str:
    """Return advice on converting a file of another format to .jsonl or .csv; "" if the format is unknown."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        return f"; one object a line: jq -c '.[]' {path.name} > {path.stem}.jsonl"
    if suffix == ".parquet":
        return "; write it as .jsonl"
    if suffix in (".xlsx", ".xls", ".ods", ".tsv"):
        return "; save the table as .csv (UTF-8, separated by commas)"
    if suffix == ".gz":
        return f"; unpack it: gunzip {path.name}"
    return ""


def scan_jsonl(file: Iterable[bytes], path: Path, *, first_line: int = 1) -> Iterator[DataRow | DataError]:
    """Yield the rows of JSON lines; for a malformed line, yield its error instead."""
    for number, raw in enumerate(file, start=first_line):
        try:
            _check_length(raw, path, number)
            text = decode(raw, path, number).strip()
            if text:
                yield DataRow(path, number, _object(text, path, number))
        except (ConfigError, DataError) as error:
            yield DataError(str(error), line=number)


def bounded_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; of a line that is too long, only the beginning is read into memory."""
    while line := file.readline(MAX_LINE + 1):
        rest = line
        while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
            rest = file.readline(MAX_LINE + 1)
        yield line


def _check_length(line: bytes, path: Path, number: int) -> None:
    if len(line) > MAX_LINE:
        raise DataError(f"{path}:{number}: longer than {MAX_LINE >> 20} MiB; one row a line")


def _object(text: str, path: Path, number: int) -> dict[str, Any]:
    try:
        values = parse_json(text)
    except json.JSONDecodeError as error:
        if text in _NOT_LINES:
            raise DataError(f"{path}:{number}: {_NOT_LINES[text]}") from None
        problem = error.msg.removesuffix(" at")
        raise DataError(f"{path}:{number}: not valid JSON: {problem} at column {error.colno}") from None
    except ValueError as error:
        raise DataError(f"{path}:{number}: {error}") from None
    if isinstance(values, list):
        raise DataError(f"{path}:{number}: expected an object, got list: {_NOT_LINES['[']}")
    if not isinstance(values, dict):
        raise DataError(f"{path}:{number}: expected an object, got {type(values).__name__}")
    return values


class _CsvLines:
    """The decoded lines of a CSV file; a row, which may have several lines, has a maximum size."""

    def __init__(self, file: Iterable[bytes], path: Path) -> None:
        self._file = file
        self._path = path
        self._size = 0
        self.row = 1
        """Number of the first line of the row that is being read."""

    def begin_row(self, number: int) -> None:
        self.row, self._size = number, 0

    def __iter__(self) -> Iterator[str]:
        for number, raw in enumerate(self._file, start=1):
            self._size += len(raw)
            if self._size > MAX_LINE:
                raise DataError(f"{self._path}:{self.row}: longer than {MAX_LINE >> 20} MiB for a row")
            if len(raw) > MAX_COMMAS and raw.count(b",") > MAX_COMMAS:
                raise DataError(f"{self._path}:{number}: more than {MAX_COMMAS:,} cells")
            yield decode(raw, self._path, number)


def _scan_csv(file: Iterable[bytes], path: Path) -> Iterator[DataRow | DataError]:
    csv.field_size_limit(MAX_LINE)  # the default of 131,072 characters is too short for long answers
    lines = _CsvLines(file, path)
    reader = csv.reader(lines, strict=True)
    try:
        header = next(reader, None)
        if header is None:
            return
        if len(header) == 1 and (others := [mark for mark in ";\t|" if mark in header[0]]):
            raise DataError(f"{path}:1: cells must be separated by ',', not by {others[0]!r}")
        if len(set(header)) != len(header):
            raise DataError(f"{path}:1: a column name repeats: {', '.join(header)}")
        lines.begin_row(reader.line_num + 1)
        for cells in reader:
            if len(cells) == len(header):
                yield DataRow(path, lines.row, dict(zip(header, cells, strict=True)))
            elif cells:
                message = f"{path}:{lines.row}: {len(cells)} cells, but the header has {len(header)}"
                yield DataError(message, line=lines.row)
            lines.begin_row(reader.line_num + 1)
    except csv.Error as error:  # reading stops, because the start of the next row is unknown
        raise DataError(f"{path}:{lines.row}: not valid CSV: {error}") from None
    except ConfigError as error:
        raise DataError(str(error)) from None


def rename_columns(row: DataRow, columns: Mapping[str, str]) -> DataRow | DataError:
    """Return the row with renamed fields; return an error if a column is missing or two get the same name."""
    try:
        return _rename(row, columns)
    except DataError as error:
        return error


def _rename(row: DataRow, columns: Mapping[str, str]) -> DataRow:
    values: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for name, value in row.values.items():
        target = columns.get(name, name)
        group, _, leaf = target.partition(".")
        if group == "metadata" and leaf:
            inner[leaf] = value
        elif target in values:
            row.fail(f"two columns are mapped to {target!r}")
        else:
            values[target] = value
    for name in columns:
        if name not in row.values:
            row.fail(f"columns: no column {name!r}{did_you_mean(name, row.values)}")
    if inner:
        metadata = values.get("metadata") or {}
        values["metadata"] = {**metadata, **inner} if isinstance(metadata, dict) else inner
    return DataRow(row.path, row.number, values)


def read_number(row: DataRow, name: str) -> float:
    """Return a field of a row as a finite number; "" names the whole line of ``number_rows``."""
    value, field = row.values.get(name), f"field {name!r}" if name else "the line"
    if value is None:
        row.missing(name)
    try:
        number = float(str(value)) if not isinstance(value, bool) else nan
    except ValueError:
        row.fail(f"{field} must be a number, got {short_repr(value)}")
    if not isfinite(number):
        row.fail(f"{field} must be a finite number, got {short_repr(value)}")
    return number


def number_rows(lines: Iterable[bytes], path: Path) -> Iterator[DataRow]:
    """Yield a row for each line of a text with one number per line; blank lines are skipped."""
    for number, line in enumerate(text_lines(lines, path), start=1):
        if text := line.strip():
            yield DataRow(path, number, {"": text})


def text_lines(lines: Iterable[bytes], path: Path) -> Iterator[str]:
    """Yield the decoded lines of a file with their ends."""
    try:
        for number, raw in enumerate(lines, start=1):
            _check_length(raw, path, number)
            yield decode(raw, path, number)
    except ConfigError as error:
        raise DataError(str(error)) from None


MIN_SIMILARITY = 0.8
"""Minimum similarity (difflib's ratio) at which a name counts as a misspelling of another name."""
WAY_OUT = "rename it, map it (columns: or --column), or move it under metadata"
"""End of the error message about a wrong field name: what the user can do."""


class FieldNames:
    """Check the names of the fields of a data file, each name only once."""

    # An unknown name is an error only if it resembles a known field or is a common alternative name for one.

    def __init__(
        self,
        known: Collection[str],
        aliases: Mapping[str, Collection[str]],
        *,
        neighbours: Collection[str] = (),
        way_out: str = WAY_OUT,
    ) -> None:
        self._known = tuple(known)
        self._by_alias = {alias: name for name, others in aliases.items() for alias in others}
        self._accepted = {*known, *neighbours}
        self._way_out = way_out

    def intended(self, name: str) -> str | None:
        """Return the known field that a wrong name stands for."""
        if name in self._accepted:
            return None
        plain = name.strip().casefold().replace("-", "_").replace(" ", "_")
        if plain in self._known:
            return plain
        if plain in self._by_alias:
            return self._by_alias[plain]
        return next(iter(difflib.get_close_matches(plain, self._known, n=1, cutoff=MIN_SIMILARITY)), None)

    def check(self, row: DataRow) -> None:
        """Check all field names of a row."""
        if row.values.keys() <= self._accepted:
            return
        for name in row.values:
            field = self.intended(name)
            if field is not None:
                row.fail(f"unknown field {name!r}; did you mean {field!r}? {self._way_out}")
            self._accepted.add(name)

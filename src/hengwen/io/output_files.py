"""Write files, also row by row: checked before any work is done, and atomically; no input is replaced."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from hengwen.errors import ConfigError, HengwenError
from hengwen.text.numbers import no_formula, replace_controls, replace_surrogates


def check_output(target: Path, inputs: Iterable[Path] = ()) -> None:
    """Check that a file can be written, and that it is none of the files that the command reads."""
    check_file(target)
    for path in inputs:
        if is_same_file(target, path):
            raise ConfigError(f"{target}: the output would replace the input {path}; name another file")
    try:
        # create a test file, because permissions do not show a read-only disk
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise _unwritable(target, error) from None


def check_file(target: Path) -> None:
    """Check that a path is or can become a regular file (no link, folder or device) in an existing folder."""
    try:
        if target.is_symlink():
            raise ConfigError(
                f"{target}: is a link to {os.readlink(target)}, and no output is written through a link; "
                "name the file itself"
            )
        if target.is_dir():
            raise ConfigError(f"{target}: is a folder; name a file in it")
        if target.exists():
            if not target.is_file():
                raise ConfigError(f"{target}: is a device or a pipe; name a file")
            if not os.access(target, os.W_OK):
                raise ConfigError(f"{target}: is write-protected; name another file")
        elif not target.parent.is_dir():
            raise ConfigError(f"{target}: folder {str(target.parent)!r} does not exist; create it first")
    except OSError as error:
        raise _unwritable(target, error) from None


def check_inside(target: Path, plan: Path) -> None:
    """Check that a file that a plan names for writing is in the folder of the plan, also through links."""
    folder = os.path.realpath(plan.parent)
    if os.path.commonpath([os.path.realpath(target), folder]) != folder:
        raise ConfigError(f"{target}: is outside the folder of {plan}; name it with -o, or add --trust")


def is_same_file(path: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file, also through links."""
    try:
        return path.samefile(other)
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other)


def _unwritable(target: Path, error: OSError) -> ConfigError:
    return ConfigError(f"{target}: cannot be written: {error.strerror or error}")


MAX_PREFIX = 40
"""Characters of a file's name in that of its temporary file; file systems allow 255 bytes."""


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield an empty temporary file that replaces ``path`` if the ``with`` block ends without an error."""
    check_file(path)
    temporary: Path | None = None
    try:
        prefix = f".{path.name[:MAX_PREFIX]}."
        handle, name = tempfile.mkstemp(prefix=prefix, suffix=".part", dir=path.parent)
        temporary = Path(name)
        os.close(handle)
        yield temporary
        # a new file, which may hold answers, is for its owner
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o600)
        temporary.replace(path)
    except HengwenError:  # raised by the with block; caught first because a StoreError is also an OSError
        raise
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


JsonRow = dict[str, Any]
FORMATS = (".jsonl", ".csv")


def check_target(target: Path, inputs: Iterable[Path] = ()) -> None:
    """Check that a file name has the ending of a known format, and that the file can be written."""
    if target.suffix.lower() not in FORMATS:
        known = ", ".join(FORMATS)
        raise ConfigError(f"cannot tell the format of {str(target)!r}; name it with one of {known}")
    check_output(target, inputs)


@contextmanager
def row_writer(target: Path, header: list[str]) -> Iterator[Callable[[JsonRow], object]]:
    """Yield a row writer; the file appears when the ``with`` block ends without an error."""
    with (
        atomic_write(target) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        yield _csv_writer(file, header) if target.suffix.lower() == ".csv" else _jsonl_writer(file)


def _jsonl_writer(file: IO[str]) -> Callable[[JsonRow], object]:
    return lambda row: file.write(replace_surrogates(json.dumps(row, ensure_ascii=False)) + "\n")


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

"""Find the input files that paths and patterns name, and notice when a file has changed."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

PARQUET_SUFFIX = ".parquet"
SUFFIXES = (".jsonl", ".ndjson", PARQUET_SUFFIX)
SHARD_ROWS = 5_000
"""Default number of rows per shard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """An input file as it was when it was split into shards."""

    path: str
    """Path as the user gave it, or as a pattern matched it."""
    bytes: int
    modified_ns: int
    """Time of the last change, in nanoseconds since 1970."""
    sha256: str
    """Hash of the content."""
    rows: int
    """Number of lines of a JSONL file (blank lines included), or of rows of a Parquet file."""

    def looks_unchanged(self) -> bool:
        """Return whether the file still has the recorded size and time; False if it cannot be read."""
        try:
            status = Path(self.path).stat()
        except OSError:
            return False
        return (status.st_size, status.st_mtime_ns) == (self.bytes, self.modified_ns)


def find_inputs(names: Sequence[Path]) -> list[Path]:
    """Return the input files in the order of the names; the files of a pattern are sorted."""
    paths = [path for name in names for path in _matches(name)]
    first_by_file: dict[Path, Path] = {}
    for path in paths:
        if path.suffix.lower() not in SUFFIXES:
            raise DataError(f"{path}: a folder of scores needs inputs that end in {', '.join(SUFFIXES)}")
        if (first := first_by_file.setdefault(path.resolve(), path)) is not path:
            raise ConfigError(f"{path}: is the same file as the input {first}; name it once")
    return paths


def _matches(name: Path) -> list[Path]:
    if name.is_dir():
        raise DataError(f"{name}: is a folder; name its files by a pattern, such as '{name}/*.jsonl'")
    if name.exists():
        return [name]
    if not glob.has_magic(str(name)):
        raise DataError(f"{name}: no such file")
    paths = [path for path in map(Path, sorted(glob.glob(str(name), recursive=True))) if path.is_file()]
    if not paths:
        raise DataError(f"{name}: no file matches this pattern")
    return paths

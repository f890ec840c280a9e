"""Find input files, and split them into shards: ranges of a fixed number of lines or rows."""

from __future__ import annotations

import glob
import hashlib
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from hengwen.errors import ConfigError, DataError
from hengwen.io.parquet_reader import count_parquet_rows, scan_parquet
from hengwen.io.row_reader import bounded_lines, open_data_file, scan_jsonl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hengwen.io.row_reader import DataRow

PARQUET_SUFFIX = ".parquet"
SUFFIXES = (".jsonl", ".ndjson", PARQUET_SUFFIX)


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


BLOCK_BYTES = 1 << 20
"""Number of bytes that are read at a time when a file is split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A range of lines of a JSONL file, or of rows of a Parquet file."""

    number: int
    """Number of the shard among all shards, from 0."""
    input: int
    """Number of the input file, from 0."""
    skipped: int
    """Number of lines or rows of the file before the shard."""
    rows: int
    """Number of lines (blank lines included) or rows of the shard."""
    offset: int
    """Byte at which the shard starts in a JSONL file; 0 in a Parquet file."""

    @property
    def output(self) -> str:
        """Name of the file with the scores of the shard."""
        return f"shard-{self.number:06d}.jsonl"


def split_file(path: Path, shard_rows: int, *, number: int, index: int) -> tuple[InputFile, list[Shard]]:
    """Measure a file and split it into shards of ``shard_rows`` lines or rows."""
    digest = hashlib.sha256()
    size = rows = last_byte = 0
    starts = [0]
    with open_data_file(path) as file:
        modified_ns = path.stat().st_mtime_ns
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
            starts += [size + end for end in _line_ends(block, shard_rows - rows % shard_rows, shard_rows)]
            rows += block.count(b"\n")
            size += len(block)
            last_byte = block[-1]
    if path.suffix.lower() == PARQUET_SUFFIX:
        rows = count_parquet_rows(path)
        starts = [0] * -(-rows // shard_rows)
    elif last_byte != ord("\n"):  # the last line has no line end
        rows += bool(size)
    if not rows:
        raise DataError(f"{path}: no rows")
    shards = [
        Shard(
            number=index + position,
            input=number,
            skipped=position * shard_rows,
            rows=min(shard_rows, rows - position * shard_rows),
            offset=start,
        )
        for position, start in enumerate(starts)
        if position * shard_rows < rows
    ]
    digits = digest.hexdigest()
    return InputFile(path=str(path), bytes=size, modified_ns=modified_ns, sha256=digits, rows=rows), shards


def _line_ends(block: bytes, first: int, step: int) -> list[int]:
    r"""The position after line end ``first`` (counted from 1), and after every ``step``-th later one."""
    import numpy as np

    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
    return [int(end) + 1 for end in ends[first - 1 :: step]]


def read_shard(shard: Shard, path: Path) -> Iterator[DataRow | DataError]:
    """Yield the rows of a shard; for a malformed line, yield its error instead."""
    if path.suffix.lower() == PARQUET_SUFFIX:
        yield from scan_parquet(path, shard.skipped, shard.skipped + shard.rows)
        return
    with open_data_file(path) as file:
        file.seek(shard.offset)
        yield from scan_jsonl(islice(bounded_lines(file), shard.rows), path, first_line=shard.skipped + 1)

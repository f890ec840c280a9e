"""Split input files into shards: ranges of a fixed number of lines or rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from hengwen.errors import DataError
from hengwen.io.parquet_reader import count_parquet_rows, scan_parquet
from hengwen.io.row_reader import bounded_lines, open_data_file, scan_jsonl
from hengwen.runs.shards.input_files import PARQUET_SUFFIX, InputFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hengwen.io.row_reader import DataRow

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

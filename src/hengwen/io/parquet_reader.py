"""Read the rows of a Parquet file in a process of its own, with a limit of its memory; needs pyarrow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hengwen.errors import DataError, PluginError
from hengwen.io.row_reader import DataRow
from hengwen.io.untrusted_json import parse_json

MAX_MEMORY = 3 << 30
"""Bytes of address space of the reading process, of which pyarrow itself takes more than one."""
MAX_LINE = 16 << 20
"""Bytes of one row as JSON."""
BATCH_ROWS = 100


def scan_parquet(path: Path) -> Iterator[DataRow]:
    """Yield the rows of a Parquet file, with texts in place of times and decimals, and None for NaN."""
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    if find_spec("pyarrow") is None:
        raise PluginError(f"{path}: Parquet files need pyarrow: pip install 'hengwen[parquet]'")
    command = [sys.executable, "-P", "-m", "hengwen.io.parquet_reader", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:  # noqa: S603 - the own interpreter
        assert reader.stdout is not None
        assert reader.stderr is not None
        try:
            number = 0
            while line := reader.stdout.readline(MAX_LINE):
                number += 1
                if not line.endswith(b"\n"):
                    raise DataError(f"{path}:{number}: the row has more than {MAX_LINE >> 20} MiB")
                yield DataRow(path, number, parse_json(line))
            errors = reader.stderr.read().decode("utf-8", "replace").strip().splitlines()
            if reader.wait():
                raise DataError(f"{path}: {errors[-1] if errors else 'it takes too much memory'}")
        finally:
            reader.kill()


def main(path: str) -> None:
    """Print the rows of a Parquet file as lines of JSON."""
    import orjson
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    except (ImportError, ValueError):  # not on this system, or there is a lower limit
        pass

    def plain(value: Any) -> str:
        if isinstance(value, bytes):
            raise TypeError("bytes")
        return str(value)

    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            names = file.schema_arrow.names
            if repeated := sorted({name for name in names if names.count(name) > 1}):
                sys.exit(f"a column name repeats: {', '.join(repeated)}")
            for batch in file.iter_batches(batch_size=BATCH_ROWS, use_threads=False):
                for row in batch.to_pylist():
                    sys.stdout.buffer.write(orjson.dumps(row, default=plain) + b"\n")
    except (OSError, pa.ArrowException, TypeError) as error:
        sys.exit(f"cannot be read as Parquet: {str(error).splitlines()[0]}")
    except MemoryError:
        sys.exit("it takes too much memory")


if __name__ == "__main__":
    main(sys.argv[1])

"""Read the rows of Parquet files with bounded memory, all rows or a range of them; needs pyarrow."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hengwen.errors import DataError, PluginError
from hengwen.io.row_reader import DataRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO


MAX_HEADER = 1 << 16
"""Maximum number of bytes of a page's header."""
BOOLEANS, BYTE, INTEGERS, DOUBLE, BINARY, STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, 12
"""Types of Thrift's compact protocol."""
UNCOMPRESSED_SIZE, COMPRESSED_SIZE, DATA, DICTIONARY, DATA_2 = 2, 3, 5, 7, 8
"""Fields of a page's header; field 1 of each of the last three is the number of values."""
ENCODINGS = {DATA: 2, DATA_2: 4}
"""The field of a data page with the encoding of its values."""
INDEXES = (2, 8)
"""Encodings of values as indexes of a dictionary."""


class Page(NamedTuple):
    """A page of a column."""

    size: int
    """Number of bytes after decompression."""
    values: int
    kind: Literal["dictionary", "indexes", "values"]


def pages_of(content: BinaryIO, begin: int, end: int) -> Iterator[Page]:
    """Yield the pages between two positions of a file; raise ValueError if a header cannot be read."""
    while begin < end:
        content.seek(begin)
        header = _Header(content.read(MAX_HEADER))
        fields = header.struct()
        if fields[UNCOMPRESSED_SIZE] < 0 or fields[COMPRESSED_SIZE] < 0:
            raise ValueError("a page has a negative size")
        kind = next((name for name in (DATA, DICTIONARY, DATA_2) if name in fields), DATA)
        has_indexes = kind != DICTIONARY and fields[kind][ENCODINGS[kind]] in INDEXES
        yield Page(
            fields[UNCOMPRESSED_SIZE],
            fields[kind][1],
            "dictionary" if kind == DICTIONARY else "indexes" if has_indexes else "values",
        )
        begin += header.position + fields[COMPRESSED_SIZE]


class _Header:
    """Reader of a struct in Thrift's compact protocol."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self.position = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        name = 0
        while byte := self._byte():
            kind, step = byte & 0x0F, byte >> 4
            name = name + step if step else self._integer()
            fields[name] = self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in BOOLEANS:
            return kind == BOOLEANS[0]
        if kind in INTEGERS:
            return self._integer()
        if kind == STRUCT and depth < 8:
            return self.struct(depth + 1)
        if kind in (BYTE, DOUBLE, BINARY):
            length = {BYTE: 1, DOUBLE: 8}.get(kind) or self._varint()
            self.position += length
            return None
        raise ValueError("a page has an unknown header")

    def _byte(self) -> int:
        if self.position >= len(self._raw):
            raise ValueError("a page has no complete header")
        self.position += 1
        return self._raw[self.position - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


BATCH_ROWS = 500
"""Maximum number of rows that are converted to Python objects at a time."""
BATCH_BYTES = 8 << 20
"""Maximum number of bytes of the rows that are converted at a time, unless one row has more."""
MAX_PAGES = 16 << 20
"""Maximum number of bytes of the largest decompressed pages of all columns together."""
MAX_VALUES = 1_000_000
"""Maximum number of values of a page of lists, which may be those of one row."""
MAX_COLUMNS = 2_000


def count_parquet_rows(path: Path) -> int:
    """Return the number of rows of a Parquet file; its columns are checked, its rows are not read."""
    with _open_parquet(path) as file:
        names = file.schema_arrow.names
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise DataError(f"{path}: a column name repeats: {', '.join(repeated)}")
        for field in file.schema_arrow:
            if not _is_text(field.type) and not _is_plain(field.type):
                raise DataError(
                    f"{path}: column {field.name!r} has the type {field.type}, which JSON cannot express; "
                    "write the file without this column"
                )
        return int(file.metadata.num_rows)


def scan_parquet(path: Path, start: int = 0, stop: int | None = None) -> Iterator[DataRow]:
    """Yield the rows of a Parquet file."""
    with _open_parquet(path) as file:
        last = file.metadata.num_rows if stop is None else stop
        groups, number = _row_groups(file, start, last)
        if not groups:  # pyarrow 19 does not accept an empty list
            return
        batch_rows, dictionaries = _batch_rows(path, file, groups)
        nested = [field.name for field in file.schema_arrow if _has_nested_floats(field.type)]
    with _open_parquet(path, dictionaries) as file:
        for batch in file.iter_batches(batch_size=batch_rows, row_groups=groups):
            first = max(start - number, 0)
            rows = batch.slice(first, max(min(batch.num_rows, last - number) - first, 0))
            for offset, values in enumerate(_json_rows(_json_columns(rows)), start=number + first + 1):
                values.update((name, _finite(values[name])) for name in nested)
                yield DataRow(path, offset, values)
            number += batch.num_rows


def _row_groups(file: Any, start: int, stop: int) -> tuple[list[int], int]:
    """The indexes of the row groups that contain the rows ``start + 1`` to ``stop`` (counted from 1)."""
    groups: list[int] = []
    preceding = begin = 0
    for index in range(file.metadata.num_row_groups):
        end = begin + file.metadata.row_group(index).num_rows
        if begin < stop and end > start:
            preceding = preceding if groups else begin
            groups.append(index)
        begin = end
    return groups, preceding


def _batch_rows(path: Path, file: Any, groups: list[int]) -> tuple[int, list[str]]:
    """Return the number of rows to read at a time, and the columns to read as dictionaries."""
    import pyarrow as pa

    # A dictionary can repeat a long text for free; a column with other values too is read a few rows at a
    # time, because pyarrow would keep all its values in one dictionary.
    most, mixed = 1.0, set()
    with path.open("rb") as content:
        for group in groups:
            page_bytes = row_bytes = 0.0
            for index in range(file.metadata.num_columns):
                column = file.metadata.row_group(group).column(index)
                pages = _pages(content, column)
                page_bytes += max((page.size for page in pages), default=0)
                is_list = file.schema.column(index).max_repetition_level > 0
                if page_bytes > MAX_PAGES or (is_list and any(page.values > MAX_VALUES for page in pages)):
                    raise DataError(
                        f"{path}: column {column.path_in_schema!r}: the pages of all columns have at most "
                        f"{MAX_PAGES >> 20} MiB together, those of lists {MAX_VALUES:,} values; "
                        "write smaller ones (in pyarrow: write_batch_size)"
                    )
                kinds = {page.kind for page in pages}
                if kinds != {"dictionary", "indexes"}:
                    mixed.add(column.path_in_schema)
                    row_bytes += max(
                        (
                            page.size / (4 if page.kind == "dictionary" else max(page.values, 1))
                            for page in pages
                        ),
                        default=0,
                    )
            most = max(most, row_bytes)
    texts = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
    return max(1, min(BATCH_ROWS, int(BATCH_BYTES / most))), [name for name in texts if name not in mixed]


def _pages(content: BinaryIO, column: Any) -> list[Page]:
    begin = min(column.dictionary_page_offset or column.data_page_offset, column.data_page_offset)
    try:
        return list(pages_of(content, begin, begin + column.total_compressed_size))
    except (LookupError, TypeError, ValueError):
        name = column.path_in_schema
        raise OSError(f"column {name!r} has a page whose header cannot be read") from None


def _json_rows(batch: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a batch; equal texts are one object, because a dictionary repeats them for free."""
    import pyarrow as pa

    names = batch.schema.names
    columns = [
        _values(column) if pa.types.is_dictionary(column.type) else column.to_pylist() for column in batch
    ]
    for row in zip(*columns, strict=True):
        yield dict(zip(names, row, strict=True))


def _values(column: Any) -> list[Any]:
    texts = column.dictionary.to_pylist()
    return [None if index is None else texts[index] for index in column.indices.to_pylist()]


def _json_columns(batch: Any) -> Any:
    """Return a batch with dates, times and decimals as text, and with None for NaN and infinity."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for index, field in enumerate(batch.schema):
        column = batch.column(index)
        if _is_text(field.type):
            batch = batch.set_column(index, field.name, pc.cast(column, pa.string()))
        elif pa.types.is_floating(field.type):
            values = pc.cast(column, pa.float64())
            batch = batch.set_column(index, field.name, pc.if_else(pc.is_finite(values), values, None))
    return batch


def _has_nested_floats(kind: Any) -> bool:
    """Return whether a type is nested (list, struct or dictionary) and contains a floating-point type."""
    import pyarrow as pa

    types = pa.types
    if types.is_struct(kind):
        parts = [field.type for field in kind]
    elif types.is_dictionary(kind) or _is_list(kind):
        parts = [kind.value_type]
    else:
        return False
    return any(types.is_floating(part) or _has_nested_floats(part) for part in parts)


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    checks = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(check(kind) for check in checks)


def _finite(value: Any) -> Any:
    """Return a value of a nested type with None in the place of NaN and infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_finite(part) for part in value]
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    return value


def _is_text(kind: Any) -> bool:
    """Return whether the values of a column are converted to text."""
    import pyarrow as pa

    return bool(pa.types.is_temporal(kind) or pa.types.is_decimal(kind))


def _is_plain(kind: Any) -> bool:
    """Return whether JSON can express the values of a type."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind) or _is_list(kind):
        return _is_plain(kind.value_type)
    if types.is_struct(kind):
        return all(_is_plain(field.type) for field in kind)
    checks = (types.is_null, types.is_boolean, types.is_integer, types.is_floating)
    return any(check(kind) for check in (*checks, types.is_string, types.is_large_string))


@contextmanager
def _open_parquet(path: Path, dictionaries: Sequence[str] = ()) -> Iterator[Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise PluginError(f"{path}: Parquet files need pyarrow: pip install 'hengwen[parquet]'") from None
    try:
        with pq.ParquetFile(
            path, pre_buffer=False, buffer_size=1 << 20, read_dictionary=list(dictionaries)
        ) as file:
            if file.metadata.num_columns > MAX_COLUMNS:
                raise DataError(
                    f"{path}: {file.metadata.num_columns:,} columns; at most {MAX_COLUMNS:,} are read"
                )
            yield file
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}: cannot be read as Parquet: {str(error).splitlines()[0]}") from None

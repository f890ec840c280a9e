"""The sizes of the pages of a Parquet file from their headers; pyarrow shows what the footer claims.

A page is decompressed as a whole, so a page of a few kilobytes can take gigabytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
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

"""An ordered mapping that is kept in memory while it is small, and in a temporary file when it is large."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Iterator, MutableMapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar, overload

import hengwen._internal.record_pickling  # noqa: F401 - it makes records quick to pickle
from hengwen.records import Response, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


Value = TypeVar("Value")

MAX_IN_MEMORY = 20_000
"""Maximum number of items that are kept in memory; this many samples take some tens of megabytes."""


class SpillDict(MutableMapping[str, Value], Generic[Value]):
    """A mapping with string keys and bounded memory, for millions of items."""

    # The mapping keeps insertion order. If it has more than `max_in_memory` items, all items are moved to a
    # temporary file. The file holds copies of the values, so a value that was changed must be set again.

    def __init__(self, max_in_memory: int = MAX_IN_MEMORY) -> None:
        self._max_in_memory = max_in_memory
        self._items: dict[str, Value] = {}
        self._file: sqlite3.Connection | None = None
        self._count = 0

    def __getitem__(self, key: str) -> Value:
        if self._file is None:
            return self._items[key]
        row = self._file.execute("SELECT value FROM item WHERE key = ?", (_encode(key),)).fetchone()
        if row is None:
            raise KeyError(key)
        value: Value = pickle.loads(row[0])  # noqa: S301 - no other process can open this file
        return value

    def __contains__(self, key: object) -> bool:
        if self._file is None:
            return key in self._items
        if not isinstance(key, str):
            return False
        return self._file.execute("SELECT 1 FROM item WHERE key = ?", (_encode(key),)).fetchone() is not None

    def __setitem__(self, key: str, value: Value) -> None:
        if self._file is None:
            self._items[key] = value
            self._count = len(self._items)
            if self._count > self._max_in_memory:
                self._spill()
            return
        encoded, data = _encode(key), pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        added = self._file.execute("INSERT OR IGNORE INTO item (key, value) VALUES (?, ?)", (encoded, data))
        if added.rowcount:
            self._count += 1
        else:
            self._file.execute("UPDATE item SET value = ? WHERE key = ?", (data, encoded))

    def __delitem__(self, key: str) -> None:
        if self._file is None:
            del self._items[key]
        elif not self._file.execute("DELETE FROM item WHERE key = ?", (_encode(key),)).rowcount:
            raise KeyError(key)
        self._count -= 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        if self._file is None:
            yield from self._items
            return
        for (key,) in self._file.execute("SELECT key FROM item ORDER BY position"):
            yield key.decode("utf-8", "surrogatepass")

    def _spill(self) -> None:
        self._file = sqlite3.connect(
            "", isolation_level=None
        )  # a private file that is removed when it is closed
        self._file.execute("PRAGMA journal_mode=OFF")
        self._file.execute("CREATE TABLE item (position INTEGER PRIMARY KEY, key BLOB UNIQUE, value BLOB)")
        self._file.execute("BEGIN")  # never committed: the file is not kept
        items, self._items, self._count = self._items, {}, 0
        for key, value in items.items():
            self[key] = value

    def close(self) -> None:
        """Remove all items and the temporary file."""
        self._items, self._count = {}, 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        self.close()


def _encode(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")


MAX_SAMPLES_IN_MEMORY = 2_000
"""Number of samples above which responses of a model under test are kept in a temporary file."""


class AnsweredSamples(Sequence[tuple[Sample, Response]]):
    """The pairs (sample, response) of a task, in the order of the samples and repeats."""

    # Iterating needs little memory. Stored responses are read again in each iteration. Many responses of a
    # model under test are kept in a temporary file. Selecting an item by its index reads all pairs into
    # memory.

    def __init__(self, samples: Iterable[Sample], stored: Callable[[str], Sequence[Response]] | None) -> None:
        self._samples = samples
        self._stored = stored
        self._generated: SpillDict[Sequence[Response]] = SpillDict(MAX_SAMPLES_IN_MEMORY)
        self._count = 0
        self._pairs: list[tuple[Sample, Response]] = []

    def add(self, sample: Sample, responses: Sequence[Response]) -> None:
        """Add a sample with the responses that answer it."""
        self._count += len(responses)
        if self._stored is None and responses:
            self._generated[sample.id] = responses

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[Sample, Response]]:
        for sample in self._samples:
            for response in self._responses(sample.id):
                yield sample, response

    @overload
    def __getitem__(self, index: int) -> tuple[Sample, Response]: ...

    @overload
    def __getitem__(self, index: slice) -> list[tuple[Sample, Response]]: ...

    def __getitem__(self, index: int | slice) -> tuple[Sample, Response] | list[tuple[Sample, Response]]:
        if not self._pairs:
            self._pairs = list(self)
        return self._pairs[index]

    def _responses(self, sample_id: str) -> Sequence[Response]:
        if self._stored is not None:
            return self._stored(sample_id)
        return self._generated.get(sample_id, ())

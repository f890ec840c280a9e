"""An ordered mapping that is in memory while it is small, and in a temporary file from there on."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Iterator, MutableMapping
from typing import Generic, TypeVar

Value = TypeVar("Value")

IN_MEMORY = 20_000
"""Items that are kept in memory: some tens of megabytes of samples."""


class SpillDict(MutableMapping[str, Value], Generic[Value]):
    """A mapping from texts to values that may hold millions of them: its memory is bounded.

    It keeps the order in which keys came first. Values in the file are copies: a change must be set anew.

    Args:
        in_memory: Items from which on a temporary file is used; it is gone with the spool.

    Examples:
        >>> spool = SpillDict(in_memory=1)
        >>> spool["b"], spool["a"] = "one", "two"
        >>> spool["b"] = "three"
        >>> list(spool.items()), "c" in spool
        ([('b', 'three'), ('a', 'two')], False)
    """

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._near: dict[str, Value] = {}
        self._file: sqlite3.Connection | None = None
        self._count = 0

    def __getitem__(self, key: str) -> Value:
        if self._file is None:
            return self._near[key]
        found = self._file.execute("SELECT value FROM item WHERE key = ?", (_stored(key),)).fetchone()
        if found is None:
            raise KeyError(key)
        value: Value = pickle.loads(found[0])  # noqa: S301 - nobody else has this file
        return value

    def __contains__(self, key: object) -> bool:
        if self._file is None:
            return key in self._near
        if not isinstance(key, str):
            return False
        return self._file.execute("SELECT 1 FROM item WHERE key = ?", (_stored(key),)).fetchone() is not None

    def __setitem__(self, key: str, value: Value) -> None:
        if self._file is None:
            self._near[key] = value
            self._count = len(self._near)
            if self._count > self._in_memory:
                self._move()
            return
        place, data = _stored(key), pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        added = self._file.execute("INSERT OR IGNORE INTO item (key, value) VALUES (?, ?)", (place, data))
        if added.rowcount:
            self._count += 1
        else:
            self._file.execute("UPDATE item SET value = ? WHERE key = ?", (data, place))

    def __delitem__(self, key: str) -> None:
        if self._file is None:
            del self._near[key]
        elif not self._file.execute("DELETE FROM item WHERE key = ?", (_stored(key),)).rowcount:
            raise KeyError(key)
        self._count -= 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        if self._file is None:
            yield from self._near
            return
        for (key,) in self._file.execute("SELECT key FROM item ORDER BY place"):
            yield key.decode("utf-8", "surrogatepass")

    def _move(self) -> None:
        self._file = sqlite3.connect("", isolation_level=None)  # of its own, on disk, gone when closed
        self._file.execute("PRAGMA journal_mode=OFF")
        self._file.execute("CREATE TABLE item (place INTEGER PRIMARY KEY, key BLOB UNIQUE, value BLOB)")
        self._file.execute("BEGIN")  # one transaction for all: nobody else reads it, and it is never kept
        near, self._near, self._count = self._near, {}, 0
        for key, value in near.items():
            self[key] = value

    def close(self) -> None:
        """Let go of the items, and of the file."""
        self._near, self._count = {}, 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        self.close()


def _stored(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")

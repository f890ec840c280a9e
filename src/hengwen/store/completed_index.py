"""What is settled already, in sixteen bytes a key: a run of millions goes on without millions of texts."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from hengwen.protocols import EvaluationKey

BYTES = 16


class StoredCompletedIndex:
    """The run that settled a key, by 128 bits of the key.

    Two of a million keys are alike by chance once in 10^27 times.

    Examples:
        >>> index = StoredCompletedIndex()
        >>> index.add("new", [("t", "a", 1, "s|v:1", "")])
        >>> index.add("old", [("t", "a", 1, "s|v:1", ""), ("t", "b", 1, "s|v:1", "")])
        >>> index.get(("t", "a", 1, "s|v:1", "")), index.get(("t", "b", 1, "s|v:1", "")), len(index)
        ('new', 'old', 2)
        >>> index.get(("t", "c", 1, "s|v:1", "")) is None
        True
    """

    def __init__(self) -> None:
        self._keys: NDArray[np.bytes_] = np.empty(0, dtype=f"S{BYTES}")
        self._places: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._sources: list[str] = []

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, source: str, keys: Iterable[EvaluationKey]) -> None:
        """Add what a run settled; keys that are here already keep their run.

        Args:
            source: The id of the run.
            keys: Streamed.
        """
        found = bytearray()
        for key in keys:
            found += _short(key)
        fresh = np.frombuffer(bytes(found), dtype=f"S{BYTES}")
        self._sources.append(source)
        places = np.full(len(fresh), len(self._sources) - 1, dtype=np.int32)
        every = np.concatenate([self._keys, fresh])
        self._keys, first = np.unique(every, return_index=True)
        self._places = np.concatenate([self._places, places])[first]

    def get(self, key: EvaluationKey) -> str | None:
        """Return the run that settled a key, or None."""
        if not len(self._keys):
            return None
        short = np.frombuffer(_short(key), dtype=f"S{BYTES}")[0]
        place = int(np.searchsorted(self._keys, short))
        if place == len(self._keys) or self._keys[place] != short:
            return None
        return self._sources[int(self._places[place])]


def _short(key: EvaluationKey) -> bytes:
    return blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=BYTES).digest()

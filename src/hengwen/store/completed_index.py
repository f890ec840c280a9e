"""Index of completed evaluations: about 20 bytes per key, so that large runs resume with little memory.

An evaluation is the scoring or judging of one answer; it is identified by a key.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from hengwen.protocols import EvaluationKey

HASH_BYTES = 16


class HashedCompletedIndex:
    """Map the key of each completed evaluation, as a 128-bit hash, to the run that completed it.

    The probability that any two of a million keys collide is about 1e-27.
    """

    def __init__(self) -> None:
        self._hashes: NDArray[np.bytes_] = np.empty(0, dtype=f"S{HASH_BYTES}")
        self._run_indexes: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._run_ids: list[str] = []

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, run_id: str, keys: Iterable[EvaluationKey]) -> None:
        """Add the evaluations that a run completed; a key that was added before keeps its first run."""
        buffer = bytearray()
        for key in keys:
            buffer += _hash(key)
        added = np.frombuffer(bytes(buffer), dtype=f"S{HASH_BYTES}")
        self._run_ids.append(run_id)
        indexes = np.full(len(added), len(self._run_ids) - 1, dtype=np.int32)
        self._hashes, first = np.unique(np.concatenate([self._hashes, added]), return_index=True)
        self._run_indexes = np.concatenate([self._run_indexes, indexes])[first]

    def get(self, key: EvaluationKey) -> str | None:
        """Return the id of the run that completed an evaluation, or None if none did."""
        if not len(self._hashes):
            return None
        hashed = np.frombuffer(_hash(key), dtype=f"S{HASH_BYTES}")[0]
        index = int(np.searchsorted(self._hashes, hashed))
        if index == len(self._hashes) or self._hashes[index] != hashed:
            return None
        return self._run_ids[int(self._run_indexes[index])]


def _hash(key: EvaluationKey) -> bytes:
    return blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()

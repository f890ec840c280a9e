"""In-memory filter that says whether a call may be stored, so that most lookups need no database query.

The filter holds 64 bits of each call key. A call key is a hash that identifies a request to a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

MERGE_AT = 100_000
"""When this many keys were added, they are merged into the sorted array of all earlier keys."""


class CallKeyFilter:
    """A set of hex keys that compares 64 bits; lookups may give false positives, never false negatives.

    Args:
        keys: Keys of at least 16 hex digits each.

    Examples:
        >>> keys = CallKeyFilter(["00000000000000ff" + "a" * 48])
        >>> keys.might_contain("00000000000000ff" + "b" * 48), keys.might_contain("0" * 64)
        (True, False)
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        prefixes = np.fromiter((int(key[:16], 16) for key in keys), dtype=np.uint64)
        self._sorted: NDArray[np.uint64] = np.unique(prefixes)
        self._added: set[int] = set()

    def add(self, key: str) -> None:
        """Add a key."""
        self._added.add(int(key[:16], 16))
        if len(self._added) >= MERGE_AT:
            self._sorted = np.union1d(self._sorted, np.fromiter(self._added, dtype=np.uint64))
            self._added = set()

    def might_contain(self, key: str) -> bool:
        """Return whether the key, or another key with the same first 64 bits, was added."""
        prefix = int(key[:16], 16)
        if prefix in self._added:
            return True
        if not len(self._sorted):
            return False
        index = int(np.searchsorted(self._sorted, np.uint64(prefix)))
        return index < len(self._sorted) and int(self._sorted[index]) == prefix

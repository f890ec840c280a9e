"""Whether a call may have been made before: 64 bits a call, so that most look-ups need no query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

MERGE_AT = 100_000


class CallKeyFilter:
    """A set of hex keys by their first 64 bits: it may say yes to a stranger, and never no to a member.

    Args:
        keys: Hex digits, at least 16 each.

    Examples:
        >>> index = CallKeyFilter(["00000000000000ff" + "a" * 48])
        >>> index.may_hold("00000000000000ff" + "b" * 48), index.may_hold("0" * 64)
        (True, False)
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        found = np.fromiter((int(key[:16], 16) for key in keys), dtype=np.uint64)
        self._sorted: NDArray[np.uint64] = np.unique(found)
        self._fresh: set[int] = set()

    def add(self, key: str) -> None:
        """Remember a key."""
        self._fresh.add(int(key[:16], 16))
        if len(self._fresh) >= MERGE_AT:
            fresh = np.fromiter(self._fresh, dtype=np.uint64)
            self._sorted = np.union1d(self._sorted, fresh)
            self._fresh = set()

    def may_hold(self, key: str) -> bool:
        """Whether the key, or one that begins with the same 64 bits, was remembered."""
        number = int(key[:16], 16)
        if number in self._fresh:
            return True
        if not len(self._sorted):
            return False
        place = int(np.searchsorted(self._sorted, np.uint64(number)))
        return place < len(self._sorted) and int(self._sorted[place]) == number

"""In-memory filter of the stored calls (64 bits a key), so that most lookups of a call need no query."""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

BUCKET_DIGITS = 3
"""Number of first hex digits of a key that choose its bucket."""


class CallKeyFilter:
    """A set of hex keys that compares 64 bits; lookups may give false positives, never false negatives."""

    # A key needs about 9 bytes: the 64 bits are kept in sorted arrays (buckets) of some hundred keys each.

    def __init__(self, keys: Iterable[str] = ()) -> None:
        buckets = [array("Q") for _ in range(16**BUCKET_DIGITS)]
        for key in keys:
            buckets[int(key[:BUCKET_DIGITS], 16)].append(int(key[:16], 16))
        self._buckets = [array("Q", sorted(bucket)) for bucket in buckets]

    def add(self, key: str) -> None:
        """Add a key."""
        if not self.might_contain(key):
            insort(self._buckets[int(key[:BUCKET_DIGITS], 16)], int(key[:16], 16))

    def might_contain(self, key: str) -> bool:
        """Return whether the key, or another key with the same first 64 bits, was added."""
        bucket, prefix = self._buckets[int(key[:BUCKET_DIGITS], 16)], int(key[:16], 16)
        index = bisect_left(bucket, prefix)
        return index < len(bucket) and bucket[index] == prefix

"""Count the n-grams of texts exactly.

All distinct tokens stay in memory. If there are many n-grams, they are written to 64 temporary files, which
are read one at a time.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from hengwen.objective.diversity.packed_ngrams import GramTable, TokenChunk, summed
from hengwen.objective.text.tokenize import mixed_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


class NgramCounts:
    """Counts of the n-grams of a set of texts."""

    def __init__(self) -> None:
        self.distinct = 0
        """Number of different n-grams."""
        self.frequencies: Counter[int] = Counter()
        """Number of different n-grams, by how often they occur."""

    @property
    def total(self) -> int:
        """Number of n-grams, including repeated ones."""
        return sum(count * number for count, number in self.frequencies.items())

    def add(self, counts: NDArray[Any]) -> None:
        """Add the counts of further n-grams; none of them may have been added before."""
        import numpy as np

        self.distinct += len(counts)
        for count, number in zip(*np.unique(counts, return_counts=True), strict=True):
            self.frequencies[int(count)] += int(number)


def count_ngrams(texts: Iterable[str], n: int) -> NgramCounts:
    """Count the n-grams of texts."""
    chunk = TokenChunk()
    counts = NgramCounts()
    with GramTable(n) as table:
        for text in texts:
            chunk.add(mixed_tokens(text))
            if chunk.is_full:
                ((grams, _),) = chunk.take([n])
                table.add(*summed(grams))
        if len(chunk):
            ((grams, _),) = chunk.take([n])
            table.add(*summed(grams))
        for group in table.groups():
            counts.add(summed(*group)[1])
    return counts

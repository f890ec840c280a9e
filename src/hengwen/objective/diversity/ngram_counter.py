"""Count the n-grams of any number of texts exactly, with bounded memory."""

from __future__ import annotations

import tempfile
from array import array
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from hengwen.objective.text.tokenize import mixed_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

CHUNK_TOKENS = 1_000_000
"""Number of tokens that are counted at a time."""
MAX_IN_MEMORY = 4_000_000
"""Number of distinct n-grams above which counts are kept in temporary files."""
PARTS = 64
"""Number of temporary files; the counts of one file must fit into memory."""
_BREAK = 0xFFFFFFFF
"""Number that stands between two texts, so that no n-gram spans them."""


class NgramCounts:
    """Numbers about the n-grams of a set of texts."""

    def __init__(self) -> None:
        self.distinct = 0
        """Number of different n-grams."""
        self.frequencies: Counter[int] = Counter()
        """How many different n-grams occur once, twice, and so on."""

    @property
    def total(self) -> int:
        """Number of n-grams."""
        return sum(count * number for count, number in self.frequencies.items())

    def add(self, counts: NDArray[Any]) -> None:
        """Add the counts of n-grams that were not counted before."""
        import numpy as np

        self.distinct += len(counts)
        for count, number in zip(*np.unique(counts, return_counts=True), strict=True):
            self.frequencies[int(count)] += int(number)


def count_ngrams(texts: Iterable[str], n: int) -> NgramCounts:
    """Count the n-grams of texts.

    Args:
        texts: The texts, which are read one at a time; ``tokenize.mixed_tokens`` splits each into tokens.
        n: Length of the n-grams, >= 1.

    Examples:
        >>> counts = count_ngrams(["风吹过", "风吹来"], 2)
        >>> counts.distinct, counts.total, dict(counts.frequencies)
        (3, 4, {1: 2, 2: 1})
    """
    with _Counter(n) as counter:
        for text in texts:
            counter.add(text)
        return counter.counts()


class _Tokens(dict[str, int]):
    """The number of each token."""

    def __missing__(self, token: str) -> int:
        number = self[token] = len(self)
        return number


class _Counter(ExitStack):
    """Counts n-grams: first those of a chunk of texts, then of all chunks in sorted arrays, at last in files.

    An n-gram is a row of numbers; two tokens make one 64-bit number.
    """

    def __init__(self, n: int) -> None:
        super().__init__()
        self._n = n
        self._width = (n + 1) // 2
        self._numbers = _Tokens()
        self._chunk = array("I")
        self._counted: tuple[NDArray[Any], NDArray[Any]] | None = None
        self._files: list[tuple[BinaryIO, BinaryIO]] = []

    def add(self, text: str) -> None:
        self._chunk.extend(map(self._numbers.__getitem__, mixed_tokens(text)))
        self._chunk.append(_BREAK)
        if len(self._chunk) >= CHUNK_TOKENS:
            self._count_chunk()

    def counts(self) -> NgramCounts:
        """Return the counts of all n-grams of the texts that were added."""
        import numpy as np

        if self._chunk:
            self._count_chunk()
        counts = NgramCounts()
        if self._counted is not None:
            counts.add(self._counted[1])
        for files in self._files:
            for file in files:
                file.seek(0)
            grams, numbers = (np.frombuffer(file.read(), np.uint64) for file in files)
            counts.add(_summed(grams.reshape(-1, self._width), numbers)[1])
        return counts

    def _count_chunk(self) -> None:
        """Add the n-grams of the present chunk to the counted n-grams."""
        import numpy as np

        numbers = np.frombuffer(self._chunk, np.uint32)
        self._chunk = array("I")
        size = max(len(numbers) - self._n + 1, 0)
        columns = [numbers[start : start + size] for start in range(self._n)]
        is_whole = np.ones(size, bool)
        for column in columns:
            is_whole &= column != _BREAK
        columns = [column[is_whole].astype(np.uint64) for column in columns]
        grams = np.stack(
            [
                columns[start] << np.uint64(32) | columns[start + 1]
                if start + 1 < self._n
                else columns[start]
                for start in range(0, self._n, 2)
            ],
            axis=1,
        )
        counted = _summed(grams, None)
        if self._files:
            self._write(*counted)
            return
        if self._counted is not None:
            merged = [np.concatenate(arrays) for arrays in zip(self._counted, counted, strict=True)]
            counted = _summed(*merged)
        self._counted = counted
        if len(counted[0]) > MAX_IN_MEMORY:
            self._files = [(self._new_file(), self._new_file()) for _ in range(PARTS)]
            self._write(*counted)
            self._counted = None

    def _new_file(self) -> BinaryIO:
        return cast("BinaryIO", self.enter_context(tempfile.TemporaryFile()))

    def _write(self, grams: NDArray[Any], counts: NDArray[Any]) -> None:
        """Write counts to the files; equal n-grams are always written to the same file."""
        import numpy as np

        mixed = grams.sum(axis=1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        parts = mixed >> np.uint64(58)  # 0..63, as many as PARTS
        for part, files in enumerate(self._files):
            selected = parts == part
            for file, array_ in zip(files, (grams, counts), strict=True):
                file.write(array_[selected].tobytes())


def _summed(grams: NDArray[Any], counts: NDArray[Any] | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the different n-grams in order, and the sum of the counts of each.

    Args:
        grams: One row of numbers for each n-gram.
        counts: Count of each n-gram; None if each counts once.
    """
    import numpy as np

    if counts is None and grams.shape[1] == 1:
        grams = np.sort(grams, axis=0)
    else:
        order = np.lexsort(grams.T)
        grams = grams[order]
        counts = None if counts is None else counts[order]
    is_first = np.ones(len(grams), bool)
    is_first[1:] = (grams[1:] != grams[:-1]).any(axis=1)
    starts = np.flatnonzero(is_first)
    if counts is None:
        counts = np.ones(len(grams), np.uint64)
    summed = np.add.reduceat(counts, starts) if len(starts) else counts
    return grams[starts], summed

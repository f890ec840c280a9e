"""Three searches for the longest block (stretch of characters) that ranges of two texts share.

Each search is the cheapest for some ranges and returns ``(size, after)``. ``after(x, y)`` returns the start
``(i, j)`` of the next block of ``size`` characters that starts at or after index ``x`` in the first text
(``a``) and index ``y`` in the second (``b``); None if no block is left. ``after`` must be called with
ascending indices. A size of 0 means that there is no common block.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

Range = tuple[int, int, int, int]
"""A range of each text: (start in a, stop in a, start in b, stop in b)."""
After = Callable[[int, int], "tuple[int, int] | None"]
"""Function that takes an index in text ``a`` and an index in text ``b``. It returns where the next common
block starts at or after these indices, (index in a, index in b); None if no block is left."""


def by_scan(a: str, b: str, span: Range) -> tuple[int, After]:
    """Find the longest block that ``a`` and ``b`` share in a span by trying each index of ``a`` in turn."""
    alo, ahi, blo, bhi = span
    part = b[blo:bhi]
    best, first = 0, (0, 0)
    for i in range(alo, ahi):
        if i + best >= ahi or best == len(part):
            break
        j = part.find(a[i : i + best + 1])
        while j >= 0:
            best += 1
            first = (i, blo + j)
            j = part.find(a[i : i + best + 1], j) if i + best < ahi else -1
    return best, _next_block([first] if best else [])


class Matrix:
    """Find the longest common block with a bit matrix; cheapest for about 100 to 2,000 characters.

    The matrix has a bit for each pair of characters, which is set if the characters are equal. A block is a
    run of set bits on a diagonal. In memory, adjacent bits of a diagonal have the same position in two bytes
    that are a fixed distance apart. An AND of two bytes therefore compares the bits of eight diagonals.
    """

    def __init__(self, a: str, b: str) -> None:
        codes = {ord(char): code for code, char in enumerate(sorted({*a, *b}))}
        kind = np.uint8 if len(codes) <= 256 else np.uint32
        self._a, self._b = (_numbers(text.translate(codes), kind) for text in (a, b))
        self._codes = np.arange(len(codes), dtype=kind)

    def longest(self, span: Range) -> tuple[int, After]:
        """Return the size of the longest block, and a function that returns the blocks of that size."""
        alo, ahi, blo, bhi = span
        width = (bhi - blo + 8) // 8 * 8 + 7
        few_codes = len(self._codes) < ahi - alo
        characters = self._codes if few_codes else self._a[alo:ahi]
        rows = np.zeros((len(characters), width), dtype=bool)
        np.equal(characters[:, None], self._b[None, blo:bhi], out=rows[:, : bhi - blo])
        cells = rows.take(self._a[alo:ahi], axis=0) if few_codes else rows
        size, starts = _longest_diagonal(np.packbits(cells, bitorder="little"), (width + 1) // 8)
        i, j = np.divmod(starts, width)
        return size, _next_block(zip((i + alo).tolist(), (j + blo).tolist(), strict=True))


def _longest_diagonal(cells: NDArray[np.uint8], step: int) -> tuple[int, NDArray[np.intp]]:
    """Return the length of the longest runs of set bits, and the index of the first bit of each such run."""
    powers = [cells]
    while (offset := step << (len(powers) - 1)) < len(powers[-1]):
        longer = powers[-1][:-offset] & powers[-1][offset:]
        if not np.count_nonzero(longer):
            break
        powers.append(longer)
    runs, size = powers.pop(), 1 << len(powers)
    while powers:
        following = powers.pop()[step * size :]
        length = min(len(following), len(runs))
        longer = runs[:length] & following[:length]
        if np.count_nonzero(longer):
            runs, size = longer, size + (1 << len(powers))
    bytes_set = np.flatnonzero(runs)
    index, bit = np.nonzero(np.unpackbits(runs[bytes_set], bitorder="little").reshape(-1, 8))
    return (size if len(index) else 0), bytes_set[index] * 8 + bit


class Anchors:
    """Find the longest common block by visiting all pairs of equal characters; cheapest if pairs are few.

    Frequent characters (``popular``) form no pairs.
    """

    def __init__(self, a: str, b: str, popular: frozenset[str]) -> None:
        self._a = a
        self._in_b = {char: _indices(b, char) for char in set(b) - popular}
        self._in_a = sorted([i for char in self._in_b for i in _indices(a, char)])

    def pairs(self) -> int:
        """Return the number of pairs of equal characters in the two texts, without frequent characters."""
        return sum([len(self._in_b[self._a[i]]) for i in self._in_a])

    def longest(self, span: Range) -> tuple[int, After]:
        """Return the size of the longest block, and a function that returns the blocks of that size."""
        alo, ahi, blo, bhi = span
        best, previous = 0, -1
        starts: list[tuple[int, int]] = []
        runs: dict[int, int] = {}
        for i in self._in_a[bisect_left(self._in_a, alo) : bisect_left(self._in_a, ahi)]:
            previous_runs = runs if previous == i - 1 else {}
            previous, runs = i, {}
            indices = self._in_b[self._a[i]]
            for j in indices[bisect_left(indices, blo) : bisect_left(indices, bhi)]:
                size = runs[j] = previous_runs.get(j - 1, 0) + 1
                if size > best:
                    best, starts = size, []
                if size == best:
                    starts.append((i - size + 1, j - size + 1))
        return best, _next_block(starts)


def _indices(text: str, char: str) -> list[int]:
    indices = []
    index = text.find(char)
    while index >= 0:
        indices.append(index)
        index = text.find(char, index + 1)
    return indices


def _numbers(text: str, kind: type[np.uint8 | np.uint32]) -> NDArray[np.uint8 | np.uint32]:
    encoding = "latin-1" if kind is np.uint8 else "utf-32-le"
    return np.frombuffer(text.encode(encoding, "surrogatepass"), dtype=kind)


def _next_block(starts: Iterable[tuple[int, int]]) -> After:
    remaining = iter(starts)

    def after(x: int, y: int) -> tuple[int, int] | None:
        for i, j in remaining:
            if i >= x and j >= y:
                return i, j
        return None

    return after

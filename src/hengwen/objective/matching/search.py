"""Three ways to the longest common block of two ranges; which is cheapest depends on the ranges.

Each returns ``(size, after)``: ``after(x, y)`` gives the first block of that size at or behind ``x`` in ``a``
and ``y`` in ``b``, or None. It is called with rising places. Size 0: there is no common block.
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
"""From and to in a, from and to in b."""
After = Callable[[int, int], "tuple[int, int] | None"]


def by_scan(a: str, b: str, here: Range) -> tuple[int, After]:
    """Search for more than the best so far from each place of ``a``: for short ranges. Gives one block."""
    alo, ahi, blo, bhi = here
    part = b[blo:bhi]
    best, first = 0, (0, 0)
    for i in range(alo, ahi):
        if i + best >= ahi or best == len(part):
            break
        at = part.find(a[i : i + best + 1])
        while at >= 0:
            best += 1
            first = (i, blo + at)
            at = part.find(a[i : i + best + 1], at) if i + best < ahi else -1
    return best, _in_turn([first] if best else [])


class Matrix:
    """All characters compared with all, a bit each: for ranges of some hundred to some thousand characters.

    The next cell of a diagonal lies a whole number of bytes behind the last: runs are found by slices.
    """

    def __init__(self, a: str, b: str) -> None:
        signs = {ord(char): place for place, char in enumerate(sorted({*a, *b}))}
        kind = np.uint8 if len(signs) <= 256 else np.uint32
        self._a, self._b = (_numbers(text.translate(signs), kind) for text in (a, b))
        self._signs = np.arange(len(signs), dtype=kind)

    def longest(self, here: Range) -> tuple[int, After]:
        """Return the size, and all blocks of that size in turn."""
        alo, ahi, blo, bhi = here
        width = (bhi - blo + 8) // 8 * 8 + 7
        few = len(self._signs) < ahi - alo
        left = self._signs if few else self._a[alo:ahi]
        rows = np.zeros((len(left), width), dtype=bool)
        np.equal(left[:, None], self._b[None, blo:bhi], out=rows[:, : bhi - blo])
        cells = rows.take(self._a[alo:ahi], axis=0) if few else rows
        size, places = _longest_diagonal(np.packbits(cells, bitorder="little"), (width + 1) // 8)
        at, to = np.divmod(places, width)
        return size, _in_turn(zip((at + alo).tolist(), (to + blo).tolist(), strict=True))


def _longest_diagonal(cells: NDArray[np.uint8], step: int) -> tuple[int, NDArray[np.intp]]:
    """Return the length of the longest run of set bits ``step`` bytes apart, and the bits where it begins.

    Runs of 2, 4, 8, ... begin where a run of half the length is followed by another; the length is then
    filled up from the largest power down.
    """
    powers = [cells]
    while (offset := step << (len(powers) - 1)) < len(powers[-1]):
        longer = powers[-1][:-offset] & powers[-1][offset:]
        if not np.count_nonzero(longer):
            break
        powers.append(longer)
    runs, size = powers.pop(), 1 << len(powers)
    while powers:
        rest = powers.pop()[step * size :]
        room = min(len(rest), len(runs))
        longer = runs[:room] & rest[:room]
        if np.count_nonzero(longer):
            runs, size = longer, size + (1 << len(powers))
    bytes_set = np.flatnonzero(runs)
    at, bit = np.nonzero(np.unpackbits(runs[bytes_set], bitorder="little").reshape(-1, 8))
    return (size if len(at) else 0), bytes_set[at] * 8 + bit


class Anchors:
    """The characters that may start a block, followed as difflib does: for texts where they are few."""

    def __init__(self, a: str, b: str, popular: frozenset[str]) -> None:
        self._a = a
        self._in_b = {char: _places(b, char) for char in set(b) - popular}
        self._in_a = sorted([at for char in self._in_b for at in _places(a, char)])

    def pairs(self) -> int:
        """Return how many pairs of equal anchors there are."""
        return sum([len(self._in_b[self._a[at]]) for at in self._in_a])

    def longest(self, here: Range) -> tuple[int, After]:
        """Return the size, and all blocks of that size in turn."""
        alo, ahi, blo, bhi = here
        best, before = 0, -1
        starts: list[tuple[int, int]] = []
        runs: dict[int, int] = {}
        for i in self._in_a[bisect_left(self._in_a, alo) : bisect_left(self._in_a, ahi)]:
            last = runs if before == i - 1 else {}
            before, runs = i, {}
            places = self._in_b[self._a[i]]
            for j in places[bisect_left(places, blo) : bisect_left(places, bhi)]:
                size = runs[j] = last.get(j - 1, 0) + 1
                if size > best:
                    best, starts = size, []
                if size == best:
                    starts.append((i - size + 1, j - size + 1))
        return best, _in_turn(starts)


def _places(text: str, char: str) -> list[int]:
    places = []
    at = text.find(char)
    while at >= 0:
        places.append(at)
        at = text.find(char, at + 1)
    return places


def _numbers(text: str, kind: type[np.uint8 | np.uint32]) -> NDArray[np.uint8 | np.uint32]:
    coding = "latin-1" if kind is np.uint8 else "utf-32-le"
    return np.frombuffer(text.encode(coding, "surrogatepass"), dtype=kind)


def _in_turn(starts: Iterable[tuple[int, int]]) -> After:
    rest = iter(starts)

    def after(x: int, y: int) -> tuple[int, int] | None:
        for i, j in rest:
            if i >= x and j >= y:
                return i, j
        return None

    return after

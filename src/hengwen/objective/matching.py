"""Gestalt pattern matching (Ratcliff and Obershelp): find the blocks that difflib finds, but faster.

A block is a stretch of characters that both texts contain. The longest common block is selected (of equally
long ones the first in ``a``, then the first in ``b``), then the parts to its left and right are searched in
the same way. The next block to the right is often equally long, so one search returns several blocks of one
length, and only the small gaps between them must be searched.

Three searches find the longest block; each is the cheapest for some ranges and returns ``(size, after)``.
``after(x, y)`` returns the start ``(i, j)`` of the next block of ``size`` characters that starts at or after
index ``x`` in ``a`` and ``y`` in ``b``; None if no block is left. ``after`` must be called with ascending
indices. A size of 0 means that there is no common block.

In long ranges, the longest block is found by the ranks of windows, whose lengths are powers of two: windows
with equal ranks have equal contents. A stretch of any other length consists of two overlapping windows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


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
    """Find the longest common block with a bit matrix; cheapest for about 100 to 2,000 characters."""

    # The matrix has a bit for each pair of characters, which is set if the characters are equal. A block is a
    # run of set bits on a diagonal. In memory, adjacent bits of a diagonal have the same position in two
    # bytes that are a fixed distance apart. An AND of two bytes therefore compares the bits of eight
    # diagonals.

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
    """Find the longest common block by visiting all pairs of equal characters; cheapest if pairs are few."""

    # Frequent characters (`popular`) form no pairs.

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


class Ranks:
    """Find the longest block (stretch of characters) that a range of ``a`` and a range of ``b`` share."""

    def __init__(self, a: str, b: str, popular: frozenset[str], spend: Callable[[int], None]) -> None:
        self._spend = spend
        self._offset = len(a) + 1
        codes = np.array([*map(ord, a), 0, *map(ord, b)], dtype=np.int64)
        unmatchable = np.isin(codes, [ord(char) for char in popular])
        unmatchable[len(a)] = True
        codes[unmatchable] = 0x110000 + np.arange(len(codes))[unmatchable]
        self._levels = [np.unique(codes, return_inverse=True)[1].astype(np.int64)]

    def longest(self, span: Range, max_size: int) -> tuple[int, After]:
        """Return the size (at most ``max_size``) of the longest blocks, and a function that finds them."""
        size = self._size(span, min(max_size, span[1] - span[0], span[3] - span[2]))
        return size, self._after(span, size)

    def _size(self, span: Range, max_size: int) -> int:
        """Find the size of the longest block: go down from ``max_size`` in doubling steps, then bisect."""
        low, high, step = 0, max_size, 1
        while low < high:
            size = max(high - step + 1, low + 1) if step < high - low else (low + high + 1) // 2
            if self._has_common(span, size):
                low = size
                step = high
            else:
                high = size - 1
                step *= 2
        return low

    def _has_common(self, span: Range, size: int) -> bool:
        in_a, in_b = self._windows(span, size)
        return bool(np.isin(in_a, in_b).any())

    def _windows(self, span: Range, size: int) -> tuple[Ints, Ints]:
        """Return a number for each window of ``size`` characters; equal windows have equal numbers."""
        alo, ahi, blo, bhi = span
        self._spend(ahi - alo + bhi - blo)
        power = size.bit_length() - 1
        ranks = self._level(power)
        shift = size - (1 << power)
        count = len(self._levels[0]) + 1

        def numbers(start: int, stop: int) -> Ints:
            return ranks[start:stop] * count + ranks[start + shift : stop + shift]

        offset = self._offset
        return numbers(alo, ahi - size + 1), numbers(offset + blo, offset + bhi - size + 1)

    def _level(self, power: int) -> Ints:
        """Return the ranks of all windows of 2 ** power characters; equal windows have equal ranks."""
        while len(self._levels) <= power:
            ranks, half = self._levels[-1], 1 << (len(self._levels) - 1)
            self._spend(8 * len(ranks))
            pairs = ranks[:-half] * (len(self._levels[0]) + 1) + ranks[half:]
            self._levels.append(np.unique(pairs, return_inverse=True)[1].astype(np.int64))
        return self._levels[power]

    def _after(self, span: Range, size: int) -> After:
        if not size:
            return lambda _x, _y: None
        alo, _, blo, _ = span
        in_a, in_b = self._windows(span, size)
        order = np.argsort(in_b, kind="stable")
        values = in_b[order]
        hits = np.flatnonzero(np.isin(in_a, in_b))
        firsts = np.searchsorted(values, in_a[hits], side="left").tolist()
        ends = np.searchsorted(values, in_a[hits], side="right").tolist()
        remaining = zip((hits + alo).tolist(), firsts, ends, strict=True)

        def after(x: int, y: int) -> tuple[int, int] | None:
            for i, first, end in remaining:
                if i >= x:
                    index = first + int(np.searchsorted(order[first:end], y - blo))
                    if index < end:
                        return i, int(order[index]) + blo
            return None

        return after


WORK_LIMIT = 50_000_000
"""Maximum number of positions that the searches in long texts may visit (some seconds of work); above it, an
error is raised."""

_MIN_JUNK_CHARACTERS = 200
"""Minimum length of ``b`` for difflib's junk heuristic, which ignores frequent characters."""
_MAX_SCAN_CELLS = 6_000
_MAX_MATRIX_CELLS = 4_000_000
_MAX_ANCHOR_PAIRS = 200_000

Block = tuple[int, int, int]
"""A matching block: (index in a, index in b, length)."""


def matching_blocks(a: str, b: str, *, autojunk: bool = False) -> list[Block]:
    """Return the matching blocks in the order of the texts."""
    joined: list[Block] = []
    for i, j, size in sorted(_Matcher(a, b, autojunk).blocks()):
        if joined and joined[-1][0] + joined[-1][2] == i and joined[-1][1] + joined[-1][2] == j:
            i, j, size = joined[-1][0], joined[-1][1], joined.pop()[2] + size
        joined.append((i, j, size))
    return joined


def ratio(a: str, b: str, *, autojunk: bool = False) -> float:
    """Return the similarity of two texts: twice the matched characters divided by all characters."""
    characters = len(a) + len(b)
    matched = sum([size for _, _, size in _Matcher(a, b, autojunk).blocks()])
    return 2.0 * matched / characters if characters else 1.0


class _Matcher:
    """Find the blocks of two texts; each search for a longest common block uses the cheapest method."""

    def __init__(self, a: str, b: str, autojunk: bool) -> None:
        self.a, self.b = a, b
        self.popular = _popular(b) if autojunk and len(b) >= _MIN_JUNK_CHARACTERS else frozenset()
        anchors = Anchors(a, b, self.popular) if self.popular else None
        self.anchors = anchors if anchors and anchors.pairs() <= _MAX_ANCHOR_PAIRS else None
        self._matrix: Matrix | None = None
        self._ranks: Ranks | None = None
        self._work = 0

    def blocks(self) -> list[Block]:
        """Return the blocks in no particular order."""
        if self.a == self.b and not self.popular:
            return [(0, 0, len(self.a))] if self.a else []
        blocks: list[Block] = []
        pending = [(0, len(self.a), 0, len(self.b), min(len(self.a), len(self.b)))]
        while pending:
            alo, ahi, blo, bhi, max_size = pending.pop()
            size, after = self._longest((alo, ahi, blo, bhi), max_size)
            x, y = alo, blo
            while start := (after(x, y) if size else None):
                i, j, k = self._grow(*start, size, (x, ahi, y, bhi))
                blocks.append((i, j, k))
                if x < i and y < j:
                    pending.append((x, i, y, j, size))
                x, y = i + k, j + k
            if size and x < ahi and y < bhi:
                pending.append((x, ahi, y, bhi, size))
            elif not size and self.popular:
                blocks += self._prefix(alo, ahi, blo, bhi)
        return blocks

    def _longest(self, span: Range, max_size: int) -> tuple[int, After]:
        if self.anchors:
            return self.anchors.longest(span)
        cells = (span[1] - span[0]) * (span[3] - span[2])
        if not self.popular and cells <= _MAX_SCAN_CELLS:
            return by_scan(self.a, self.b, span)
        if not self.popular and cells <= _MAX_MATRIX_CELLS:
            self._spend(cells // 100)
            self._matrix = self._matrix or Matrix(self.a, self.b)
            return self._matrix.longest(span)
        if self._ranks is None:
            self._ranks = Ranks(self.a, self.b, self.popular, self._spend)
        return self._ranks.longest(span, max_size)

    def _grow(self, i: int, j: int, size: int, span: Range) -> Block:
        """Extend a block by equal neighbouring characters that are too frequent to start a block."""
        if not self.popular:
            return i, j, size
        alo, ahi, blo, bhi = span
        a, b, before, after = self.a, self.b, 0, 0
        if i > alo and j > blo and a[i - 1] == b[j - 1]:
            before = _common_prefix(a[alo:i][::-1], b[blo:j][::-1])
        if i + size < ahi and j + size < bhi and a[i + size] == b[j + size]:
            after = _common_prefix(a[i + size : ahi], b[j + size : bhi])
        return i - before, j - before, before + size + after

    def _prefix(self, alo: int, ahi: int, blo: int, bhi: int) -> list[Block]:
        """Return the common prefix of two ranges, which is a block even if its characters are frequent."""
        size = self._grow(alo, blo, 0, (alo, ahi, blo, bhi))[2]
        return [(alo, blo, size)] if size else []

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > WORK_LIMIT:
            raise ValueError(
                f"the texts are too long and too repetitive to compare: {len(self.a)} and {len(self.b)} "
                f"characters need more than {WORK_LIMIT} steps"
            )


def _common_prefix(a: str, b: str) -> int:
    """Return the length of the common prefix."""
    size, limit = 0, min(len(a), len(b))
    while size < limit and a[size : size + 16] == b[size : size + 16]:
        size += 16
    while size < limit and a[size] == b[size]:
        size += 1
    return min(size, limit)


def _popular(b: str) -> frozenset[str]:
    """Return the characters that make up more than 1 % of a text."""
    limit = len(b) // 100 + 1
    return frozenset([char for char in set(b) if b.count(char) > limit])

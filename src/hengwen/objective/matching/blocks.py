"""Gestalt pattern matching (Ratcliff and Obershelp): find the blocks that difflib finds, but faster.

A block is a stretch of characters that both texts contain. The algorithm selects the longest common block of
the texts ``a`` and ``b``. If several blocks are equally long, the algorithm selects the first in ``a``, then
the first in ``b``. Then the algorithm searches the parts to the left and to the right of the block in the
same way. The next block to the right is often equally long. So one search returns several blocks of the same
length. Then only the small gaps between these blocks must be searched.

In long ranges, the longest block is found by the ranks of windows. A window is a stretch of characters
whose length is a power of two (1, 2, 4 and so on); its rank is that of its content among all windows of
that length, so windows with equal ranks have equal contents. A stretch of any other length consists of two
overlapping windows. Testing whether there is a common block of a given length takes nearly linear time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.objective.matching.search import Anchors, Matrix, by_scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hengwen.objective.matching.search import After, Range

    Ints = NDArray[np.int64]


class Ranks:
    """Find the longest block (stretch of characters) that a range of ``a`` and a range of ``b`` share.

    The stretches of one length are ranked by their content, so equal ranks mean equal stretches.
    """

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

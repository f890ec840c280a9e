"""Find the longest common block (stretch of characters) of two long ranges by comparing ranks of windows.

A window is a stretch of characters whose length is a power of two (1, 2, 4 and so on). The rank of a window
is the rank of its content among the contents of all windows of that length, so windows with equal ranks have
equal contents. A stretch of any other length consists of two overlapping windows whose length is a power of
two. The search is exact; testing whether there is a common block of a given length takes nearly linear time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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

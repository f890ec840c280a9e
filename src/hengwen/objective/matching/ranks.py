"""The longest common block of two long ranges by the ranks of their windows.

The rank of a window of 2, 4, 8, ... characters is the place of its content among all contents, so equal ranks
are equal windows; a window of any other length is two overlapping ones of a power of two. Exact, and nearly
linear for each length that is tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hengwen.objective.matching.search import Range

    Ints = NDArray[np.int64]


class Ranks:
    """Windows of two texts, compared by number.

    Args:
        a: A text.
        b: Another.
        popular: Characters that never match.
        spend: Told how many windows each step looks at; may raise to end it.
    """

    def __init__(self, a: str, b: str, popular: frozenset[str], spend: Callable[[int], None]) -> None:
        self._spend = spend
        self._offset = len(a) + 1
        codes = np.array([*map(ord, a), 0, *map(ord, b)], dtype=np.int64)
        alone = np.isin(codes, [ord(char) for char in popular])
        alone[len(a)] = True
        codes[alone] = 0x110000 + np.arange(len(codes))[alone]
        self._levels = [np.unique(codes, return_inverse=True)[1].astype(np.int64)]

    def longest(self, here: Range, most: int) -> tuple[int, Callable[[int, int], tuple[int, int] | None]]:
        """Return the size, at most ``most``, and the blocks as the searches of ``gestalt_search`` do."""
        size = self._size(here, min(most, here[1] - here[0], here[3] - here[2]))
        return size, self._after(here, size)

    def _size(self, here: Range, most: int) -> int:
        """Try ``most`` first, then less and less, then halve: a range is searched with a good guess."""
        low, high, less = 0, most, 1
        while low < high:
            tried = max(high - less + 1, low + 1) if less < high - low else (low + high + 1) // 2
            if self._common(here, tried):
                low = tried
                less = high
            else:
                high = tried - 1
                less *= 2
        return low

    def _common(self, here: Range, size: int) -> bool:
        left, right = self._windows(here, size)
        return bool(np.isin(left, right).any())

    def _windows(self, here: Range, size: int) -> tuple[Ints, Ints]:
        alo, ahi, blo, bhi = here
        self._spend(ahi - alo + bhi - blo)
        power = size.bit_length() - 1
        ranks = self._level(power)
        second = size - (1 << power)
        at, to = slice(alo, ahi - size + 1), slice(alo + second, ahi - size + 1 + second)
        base = self._offset
        in_b = slice(base + blo, base + bhi - size + 1)
        in_b_second = slice(base + blo + second, base + bhi - size + 1 + second)
        count = len(self._levels[0]) + 1
        return ranks[at] * count + ranks[to], ranks[in_b] * count + ranks[in_b_second]

    def _level(self, power: int) -> Ints:
        while len(self._levels) <= power:
            ranks, half = self._levels[-1], 1 << (len(self._levels) - 1)
            self._spend(8 * len(ranks))
            pairs = ranks[:-half] * (len(self._levels[0]) + 1) + ranks[half:]
            self._levels.append(np.unique(pairs, return_inverse=True)[1].astype(np.int64))
        return self._levels[power]

    def _after(self, here: Range, size: int) -> Callable[[int, int], tuple[int, int] | None]:
        if not size:
            return lambda x, y: None
        alo, _, blo, _ = here
        left, right = self._windows(here, size)
        order = np.argsort(right, kind="stable")
        values = right[order]
        hits = np.flatnonzero(np.isin(left, right))
        firsts = np.searchsorted(values, left[hits], side="left").tolist()
        ends = np.searchsorted(values, left[hits], side="right").tolist()
        rest = zip((hits + alo).tolist(), firsts, ends, strict=True)

        def after(x: int, y: int) -> tuple[int, int] | None:
            for i, first, end in rest:
                if i >= x:
                    at = first + int(np.searchsorted(order[first:end], y - blo))
                    if at < end:
                        return i, int(order[at]) + blo
            return None

        return after

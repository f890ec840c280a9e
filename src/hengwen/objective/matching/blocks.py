"""Gestalt pattern matching (Ratcliff and Obershelp) with exactly difflib's choice of blocks, but fast.

The longest common block of two ranges is taken; of several the one first in ``a``, of these the one first in
``b``; then the same to its left and to its right. The block to the right is often as long as the last one, so
one search gives a chain of blocks, and the gaps between them that remain to be searched are small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.objective.matching.ranks import Ranks
from hengwen.objective.matching.search import Anchors, Matrix, by_scan

if TYPE_CHECKING:
    from hengwen.objective.matching.search import After, Range

WORK_LIMIT = 50_000_000
"""Places that the searches in long texts may look at before they give up: some seconds."""

_JUNK_FROM = 200
_SCAN_CELLS = 6_000
_MATRIX_CELLS = 4_000_000
_ANCHOR_PAIRS = 200_000

Block = tuple[int, int, int]
"""(place in a, place in b, length)."""


def matching_blocks(a: str, b: str, *, autojunk: bool = False) -> list[Block]:
    """Return the matching blocks in the order of the texts.

    Args:
        a: A text.
        b: Another; which is first matters.
        autojunk: difflib's heuristic: where ``b`` has 200 characters or more, those that make up more than
            1 % of it start no block.

    Returns:
        What ``difflib.SequenceMatcher(None, a, b, autojunk).get_matching_blocks()`` gives, without the empty
        block at its end: disjoint, ascending, adjacent ones joined.

    Raises:
        ValueError: The texts are so long and so repetitive that ``WORK_LIMIT`` does not do.

    Examples:
        >>> matching_blocks("abxcd", "abcd")
        [(0, 0, 2), (3, 2, 2)]
    """
    joined: list[Block] = []
    for i, j, size in sorted(_Matcher(a, b, autojunk).blocks()):
        if joined and joined[-1][0] + joined[-1][2] == i and joined[-1][1] + joined[-1][2] == j:
            i, j, size = joined[-1][0], joined[-1][1], joined.pop()[2] + size
        joined.append((i, j, size))
    return joined


def ratio(a: str, b: str, *, autojunk: bool = False) -> float:
    """Return twice the number of matched characters by the number of all: 0 to 1, 1.0 for two empty texts.

    Args:
        a: A text.
        b: Another; which is first matters.
        autojunk: As in ``matching_blocks``.

    Raises:
        ValueError: As in ``matching_blocks``.

    Examples:
        >>> ratio("abcd", "bcde")
        0.75
    """
    both = len(a) + len(b)
    matched = sum([size for _, _, size in _Matcher(a, b, autojunk).blocks()])
    return 2.0 * matched / both if both else 1.0


class _Matcher:
    """Two texts, and the cheapest way to the longest common block of a range of them."""

    def __init__(self, a: str, b: str, autojunk: bool) -> None:
        self.a, self.b = a, b
        self.popular = _popular(b) if autojunk and len(b) >= _JUNK_FROM else frozenset()
        anchors = Anchors(a, b, self.popular) if self.popular else None
        self.anchors = anchors if anchors and anchors.pairs() <= _ANCHOR_PAIRS else None
        self._matrix: Matrix | None = None
        self._ranks: Ranks | None = None
        self._work = 0

    def blocks(self) -> list[Block]:
        """Return the blocks in no order."""
        if self.a == self.b and not self.popular:
            return [(0, 0, len(self.a))] if self.a else []
        found: list[Block] = []
        todo = [(0, len(self.a), 0, len(self.b), min(len(self.a), len(self.b)))]
        while todo:
            alo, ahi, blo, bhi, most = todo.pop()
            size, after = self._longest((alo, ahi, blo, bhi), most)
            x, y = alo, blo
            while start := (after(x, y) if size else None):
                i, j, k = self._grow(*start, size, (x, ahi, y, bhi))
                found.append((i, j, k))
                if x < i and y < j:
                    todo.append((x, i, y, j, size))
                x, y = i + k, j + k
            if size and x < ahi and y < bhi:
                todo.append((x, ahi, y, bhi, size))
            elif not size and self.popular:
                found += self._prefix(alo, ahi, blo, bhi)
        return found

    def _longest(self, here: Range, most: int) -> tuple[int, After]:
        if self.anchors:
            return self.anchors.longest(here)
        cells = (here[1] - here[0]) * (here[3] - here[2])
        if not self.popular and cells <= _SCAN_CELLS:
            return by_scan(self.a, self.b, here)
        if not self.popular and cells <= _MATRIX_CELLS:
            self._spend(cells // 100)
            self._matrix = self._matrix or Matrix(self.a, self.b)
            return self._matrix.longest(here)
        if self._ranks is None:
            self._ranks = Ranks(self.a, self.b, self.popular, self._spend)
        return self._ranks.longest(here, most)

    def _grow(self, i: int, j: int, size: int, here: Range) -> Block:
        """Take in equal neighbours that could not start a block."""
        if not self.popular:
            return i, j, size
        alo, ahi, blo, bhi = here
        a, b, ahead, behind = self.a, self.b, 0, 0
        if i > alo and j > blo and a[i - 1] == b[j - 1]:
            ahead = _common(a[alo:i][::-1], b[blo:j][::-1])
        if i + size < ahi and j + size < bhi and a[i + size] == b[j + size]:
            behind = _common(a[i + size : ahi], b[j + size : bhi])
        return i - ahead, j - ahead, ahead + size + behind

    def _prefix(self, alo: int, ahi: int, blo: int, bhi: int) -> list[Block]:
        """Without any anchor difflib still takes what both ranges begin with."""
        size = self._grow(alo, blo, 0, (alo, ahi, blo, bhi))[2]
        return [(alo, blo, size)] if size else []

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > WORK_LIMIT:
            raise ValueError(
                f"the texts are too long and too repetitive to compare: {len(self.a)} and {len(self.b)} "
                f"characters need more than {WORK_LIMIT} steps"
            )


def _common(a: str, b: str) -> int:
    """Return how long a beginning both have in common."""
    size, room = 0, min(len(a), len(b))
    while size < room and a[size : size + 16] == b[size : size + 16]:
        size += 16
    while size < room and a[size] == b[size]:
        size += 1
    return min(size, room)


def _popular(b: str) -> frozenset[str]:
    most = len(b) // 100 + 1
    return frozenset([char for char in set(b) if b.count(char) > most])

"""Compute the length of the longest common subsequence (LCS) of two texts, with a limit on the work.

A subsequence consists of tokens of a text in their original order; they need not be adjacent.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

from rapidfuzz.distance import LCSseq

if TYPE_CHECKING:
    from collections.abc import Sequence

_SMALL = 20_000_000
"""Maximum product of the lengths of the two sequences for which the bit-parallel algorithm is always used."""
_MAX_MATCHES = 5_000_000
"""Maximum number of pairs of equal tokens for the algorithm that visits only such pairs (n log n steps for n
pairs)."""
_MIN_CELLS_PER_MATCH = 1280
"""The algorithm that visits only pairs of equal tokens is used if such pairs are rare: at most one in this
many token pairs is a pair of equal tokens. Otherwise, the bit-parallel algorithm is faster, because it
compares 64 pairs at a time."""
_MAX_BYTE_CELLS, _MAX_WIDE_CELLS = 50_000_000_000, 4_000_000_000
"""Maximum product of the lengths of two texts: the first limit holds for texts that share at most 256
different tokens, the second for all others."""


def lcs_length(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two sequences of tokens."""
    if len(a) * len(b) <= _SMALL:
        return LCSseq.similarity(a, b)
    shared = _common_affixes(a, b)
    if shared != (0, 0):
        start, end = shared
        return start + end + lcs_length(a[start : len(a) - end], b[start : len(b) - end])
    counts_a, counts_b = Counter(a), Counter(b)
    common = [token for token in counts_a if token in counts_b]
    matches = sum(counts_a[token] * counts_b[token] for token in common)
    if matches <= min(_MAX_MATCHES, len(a) * len(b) // _MIN_CELLS_PER_MATCH):
        return _by_matches(a, b)
    codes = {token: chr(code) for code, token in enumerate(common)}
    short_a, short_b = ("".join([codes[token] for token in tokens if token in codes]) for tokens in (a, b))
    limit = _MAX_BYTE_CELLS if len(common) <= 256 else _MAX_WIDE_CELLS
    if len(short_a) * len(short_b) > limit:
        raise ValueError(f"texts of {len(a)} and {len(b)} characters or tokens are too long to compare")
    return LCSseq.similarity(short_a, short_b)


def _common_affixes(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """Return the length of the common prefix, and the length of the common suffix after that prefix."""
    limit = min(len(a), len(b))
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), limit)
    backwards = enumerate(zip(reversed(a), reversed(b), strict=False))
    end = next((i for i, (x, y) in backwards if x != y), limit)
    return start, min(end, limit - start)


def _by_matches(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the LCS length by the Hunt-Szymanski algorithm, which visits only pairs of equal tokens."""
    indices: dict[str, list[int]] = {}
    for index in range(len(b) - 1, -1, -1):
        indices.setdefault(b[index], []).append(index)
    ends: list[int] = []
    for token in a:
        for index in indices.get(token, ()):
            at = bisect_left(ends, index)
            if at == len(ends):
                ends.append(index)
            else:
                ends[at] = index
    return len(ends)

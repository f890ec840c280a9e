"""Exact index of near duplicates: it finds, for each text, all earlier texts that can be similar.

Similarity is the larger of two measures: the character ratio and the Jaccard index (intersection divided by
union) of the bigram sets. The character ratio of two texts of lengths x and y is 2 L / (x + y), where L is
the length of their longest common subsequence. If the ratio is at least t, then L is at least t (x + y) / 2.
The number of all other characters is d = x + y - 2 L. They divide the shared characters into at most d + 1
blocks (runs of adjacent characters). A block of n characters has n - 1 bigrams, so at least L - d - 1 bigrams
are shared, counted with multiplicity. If the Jaccard index is at least t, the two texts have at least a share
t of the larger bigram set in common. Whichever measure reaches t, some of the rarest bigrams of one text are
also among the rarest bigrams of the other text, so the index stores only the rarest bigrams of each text.
(Chaudhuri, Ganti and Kaushik, A Primitive Operator for Similarity Joins, 2006.)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def bigram_codes(
    texts: Sequence[str],
) -> tuple[NDArray[np.uint64], NDArray[np.intp], NDArray[np.intp]]:
    """Return the sorted bigram codes of each text, their occurrence numbers, and the number of codes."""
    lengths = np.array([len(text) for text in texts])
    raw = "".join(texts).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(raw, dtype=np.uint32).astype(np.uint64)
    following = np.append(points[1:], np.uint64(0))
    ends = np.cumsum(lengths) - 1
    following[ends] = 0
    keep = np.ones(len(points), dtype=bool)
    keep[ends[lengths > 1]] = False  # a text of one character is its own bigram
    owner = np.repeat(np.arange(len(texts)), lengths)[keep]
    codes = (points << np.uint64(32) | following)[keep]
    order = np.lexsort((codes, owner))
    codes, owner = codes[order], owner[order]
    fresh = np.ones(len(codes), dtype=bool)
    fresh[1:] = (codes[1:] != codes[:-1]) | (owner[1:] != owner[:-1])
    run_start = np.maximum.accumulate(np.where(fresh, np.arange(len(codes)), 0))
    return codes, np.arange(len(codes)) - run_start, np.maximum(lengths - 1, 1)


_HEAD_SIZE = 8
"""Number of entries at the start of each list of candidates that ``first_match`` tests before all others."""
_TOLERANCE = 1e-9
"""Tolerance for rounding errors in numbers that are computed from a threshold of similarity."""


def bigrams(text: str) -> list[str]:
    """Return the bigrams of a text; a text of one character is its own bigram."""
    return [text[i : i + 2] for i in range(max(len(text) - 1, 1))]


def candidates(texts: Sequence[str], threshold: float) -> Iterator[list[list[int]]]:
    """Yield, for each text, ascending lists of the indices of earlier texts that can be similar to it."""
    if threshold <= 2 / 3 + _TOLERANCE:
        yield from ([list(range(index))] for index in range(len(texts)))
        return
    postings: dict[int, list[int]] = {}
    by_length: dict[int, list[int]] = {}
    for index, (text, keys) in enumerate(zip(texts, _keys(texts, threshold), strict=True)):
        lists = [postings[key] for key in keys if key in postings]
        lists += [by_length[y] for y in _bounds(len(text), threshold)[1] if y in by_length]
        yield lists
        for key in keys:
            postings.setdefault(key, []).append(index)
        by_length.setdefault(len(text), []).append(index)


def fewest_shared_bigrams(total: int, threshold: float) -> int:
    """Return the minimum number of bigrams, counted with multiplicity, that two similar texts share."""
    shared = ceil(threshold * total / 2 - _TOLERANCE)
    return shared - (total - 2 * shared) - 1


def first_match(lists: Sequence[Sequence[int]], matches: Callable[[int], bool]) -> int | None:
    """Return the smallest number in ascending lists for which ``matches`` is true; None if there is none."""
    heads = sorted({number for numbers in lists for number in numbers[:_HEAD_SIZE]})
    bound = next(filter(matches, heads), None)
    rest: set[int] = set()
    for numbers in lists:
        rest.update(numbers[_HEAD_SIZE : None if bound is None else bisect_left(numbers, bound)])
    return next(filter(matches, sorted(rest.difference(heads))), bound)


def _keys(texts: Sequence[str], threshold: float) -> Iterator[list[int]]:
    """Yield the rarest features of each text, as many as are needed to find every similar text."""
    # A feature is a bigram with the number of its earlier occurrences in the text. It is given as its rank by
    # frequency; features that only one text has are left out.
    codes, occurrence, sizes = bigram_codes(texts)
    grams = np.unique(codes, return_inverse=True)[1]
    features, counts = np.unique(
        grams * (len(codes) + 1) + occurrence, return_inverse=True, return_counts=True
    )[1:]
    by_frequency = np.argsort(counts, kind="stable")
    rank = np.empty_like(by_frequency)
    rank[by_frequency] = np.arange(len(rank))
    first_shared = int(np.count_nonzero(counts == 1))
    end = 0
    for text, size in zip(texts, sizes.tolist(), strict=True):
        begin, end = end, end + size
        ranks = rank[features[begin:end]]
        single = np.sort(ranks[occurrence[begin:end] == 0])
        for_jaccard = len(single) - ceil(threshold * len(single) - _TOLERANCE) + 1
        for_ratio = size - _bounds(len(text), threshold)[0] + 1
        keys = np.union1d(single[:for_jaccard], np.sort(ranks)[:for_ratio])
        yield keys[keys >= first_shared].tolist()


@lru_cache(maxsize=10_000)
def _bounds(x: int, threshold: float) -> tuple[int, tuple[int, ...]]:
    """Return the minimum number of bigrams that a text of x characters shares with a similar text."""
    fewest, without_shared = max(x - 1, 1), []
    reach = (2 - threshold) / threshold
    for y in range(ceil(x / reach - _TOLERANCE), floor(x * reach + _TOLERANCE) + 1):
        total = x + y
        shared = ceil(threshold * total / 2 - _TOLERANCE)
        if shared > min(x, y):
            continue
        grams = fewest_shared_bigrams(total, threshold) if (x, y) != (1, 1) else 1
        if grams < 1:
            without_shared.append(y)
        else:
            fewest = min(fewest, grams)
    return fewest, tuple(without_shared)

"""Which of many texts may be alike: MinHash over bigrams, in bands, on numpy. Time and memory are linear.

Two sets of hashes: over bigrams counted with multiplicity for the character ratio, over sets of bigrams for
the Jaccard index. Each is cut into bands of so many rows that a pair meets in a band with a probability of
at least 0.95 (0.99 by the Jaccard index) even where it shares as little as a pair at the threshold can; most
share more, and meet with near certainty. More rows keep chance meetings rare, which alone grow with the
square. Candidates are compared exactly, so what is found is right; what is missed is measured in
``tests/objective/test_duplicate_lsh.py``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_COUNTED, _COUNTED_CERTAIN = 600, 0.95
_SINGLE, _SINGLE_CERTAIN = 130, 0.99
"""How many hashes, and how surely a pair must meet."""
_CHUNK = 2000
"""Texts whose hashes fit the cache of a processor."""
_RNG = np.random.default_rng(20261120)
_MULTIPLIERS = _RNG.integers(1, 2**32, size=_COUNTED + _SINGLE, dtype=np.uint32) | np.uint32(1)

Codes = tuple["NDArray[np.uint32]", "NDArray[np.intp]"]
"""Hashes of features, text after text, and where each text begins."""


def candidates(texts: Sequence[str], threshold: float) -> Iterator[list[list[int]]]:
    """Yield for each text ascending lists of earlier ones that may be alike.

    Args:
        texts: Not empty, all different, at least one.
        threshold: Of the similarity, above 2/3.
    """
    everything, single = _codes(texts)
    counted = (1.5 * threshold - 1) / (2 - 1.5 * threshold)
    for_ratio = rows_for(counted, _COUNTED, _COUNTED_CERTAIN)
    for_jaccard = rows_for(threshold, _SINGLE, _SINGLE_CERTAIN)
    groups = [
        *_groups(everything, _MULTIPLIERS[:_COUNTED], for_ratio),
        *_groups(single, _MULTIPLIERS[_COUNTED:], for_jaccard),
    ]
    members: list[list[int]] = [[] for _ in texts]
    size = 0
    for places, labels in groups:
        for place, label in zip(places.tolist(), labels.tolist(), strict=True):
            members[place].append(size + label)
        size += int(labels.max()) + 1 if len(labels) else 0
    buckets: list[list[int]] = [[] for _ in range(size)]
    for place, own in enumerate(members):
        yield [buckets[label] for label in own if buckets[label]]
        for label in own:
            buckets[label].append(place)


def rows_for(jaccard: float, hashes: int, certain: float) -> int:
    """Return the most rows a band may have so that pairs of this similarity meet that surely.

    Examples:
        >>> rows_for(0.38, 600, 0.95)  # 1 - (1 - 0.38^4)^150 = 0.957
        4
    """
    fits = [rows for rows in range(1, 13) if 1 - (1 - jaccard**rows) ** (hashes // rows) >= certain]
    return max(fits, default=1)


def _groups(
    codes: Codes, multipliers: NDArray[np.uint32], rows: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """For each band the texts that share its key with another, and the number of their group."""
    hashes, starts = codes
    edges = [*starts[::_CHUNK].tolist(), len(hashes)]
    chunks = [
        (hashes[begin:end], starts[place * _CHUNK : (place + 1) * _CHUNK] - begin)
        for place, (begin, end) in enumerate(pairwise(edges))
    ]
    for band in range(len(multipliers) // rows):
        key = np.concatenate([_key(*chunk, multipliers[band * rows : (band + 1) * rows]) for chunk in chunks])
        _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
        places = np.flatnonzero(counts[inverse] > 1)
        _, labels = np.unique(inverse[places], return_inverse=True)
        yield places, labels.astype(np.intp)


def _key(
    hashes: NDArray[np.uint32], starts: NDArray[np.intp], multipliers: NDArray[np.uint32]
) -> NDArray[np.uint64]:
    """The key of each text in one band."""
    key = np.zeros(len(starts), dtype=np.uint64)
    for multiplier in multipliers:
        least = np.minimum.reduceat(hashes * multiplier, starts)
        key = _mix(key * np.uint64(0x9E3779B97F4A7C15) + least)
    return key


def _codes(texts: Sequence[str]) -> tuple[Codes, Codes]:
    """Hashed bigrams with the number of their occurrence, and those of first occurrences alone."""
    parts = [_chunk_codes(texts[start : start + _CHUNK]) for start in range(0, len(texts), _CHUNK)]
    codes = np.concatenate([part[0] for part in parts])
    occurrence = np.concatenate([part[1] for part in parts])
    sizes = np.concatenate([part[2] for part in parts])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    first = occurrence == 0
    mixed = _mix(codes ^ _mix(occurrence.astype(np.uint64) * np.uint64(0xD1B54A32D192ED03)))
    single_sizes = np.bincount(owner[first], minlength=len(sizes))
    hashed = (mixed >> np.uint64(32)).astype(np.uint32)
    return (hashed, _starts(sizes)), (hashed[first], _starts(single_sizes))


def _chunk_codes(
    texts: Sequence[str],
) -> tuple[NDArray[np.uint64], NDArray[np.intp], NDArray[np.intp]]:
    """Bigram codes sorted within each text, the occurrence of each, and how many each text has."""
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


def _starts(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.intp)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))

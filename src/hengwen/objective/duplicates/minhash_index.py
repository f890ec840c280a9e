"""MinHash index of near duplicates: it finds candidate pairs in linear time and memory.

Each text gets MinHash values of its bigrams (pairs of adjacent characters). There are two sets of hashes:
hashes of all bigrams, counted with multiplicity, find pairs with a high character ratio (1 - (insertions +
deletions) / total length); hashes of the distinct bigrams find pairs with a high Jaccard index. The hashes
are divided into bands; two texts collide if all rows (hashes) of a band are equal. The number of rows in a
band is chosen for the worst case, a pair exactly at the threshold that shares as few bigrams as possible. A
pair in the worst case collides in some band with a probability of at least 0.95 (0.99 for the Jaccard index).
With more rows in a band, fewer dissimilar pairs collide by chance; their number grows with the square of the
number of texts, all other work linearly. Pairs that collide (candidates) are then
compared exactly, so there are no false positives; ``tests/objective/duplicates/test_minhash_index.py``
measures the false negatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from hengwen.objective.duplicates.exact_index import bigram_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RATIO_HASHES, _RATIO_RECALL = 600, 0.95
"""Number of hashes for the character ratio (1 - (insertions + deletions) / total length), and minimum
probability that a pair of texts becomes a candidate if its ratio equals the near-duplicate threshold."""
_JACCARD_HASHES, _JACCARD_RECALL = 130, 0.99
"""Number of hashes for the Jaccard index (shared bigrams / all distinct bigrams of two texts), and minimum
probability that a pair of texts becomes a candidate if its index equals the near-duplicate threshold."""
_CHUNK_SIZE = 2000
"""Number of texts that are hashed at a time, so that their hashes fit into a processor cache."""
_RNG = np.random.default_rng(20261120)
_MULTIPLIERS = _RNG.integers(1, 2**32, size=_RATIO_HASHES + _JACCARD_HASHES, dtype=np.uint32) | np.uint32(1)

Codes = tuple["NDArray[np.uint32]", "NDArray[np.intp]"]
"""Hashes of the bigrams of all texts in order, and the index at which the hashes of each text begin."""


def candidates(texts: Sequence[str], threshold: float) -> Iterator[list[list[int]]]:
    """Yield, for each text, ascending lists of the indices of earlier texts that may be similar to it."""
    occurrences, single = _codes(texts)
    counted = (1.5 * threshold - 1) / (2 - 1.5 * threshold)
    for_ratio = rows_for(counted, _RATIO_HASHES, _RATIO_RECALL)
    for_jaccard = rows_for(threshold, _JACCARD_HASHES, _JACCARD_RECALL)
    groups = [
        *_groups(occurrences, _MULTIPLIERS[:_RATIO_HASHES], for_ratio),
        *_groups(single, _MULTIPLIERS[_RATIO_HASHES:], for_jaccard),
    ]
    members: list[list[int]] = [[] for _ in texts]
    size = 0
    for indices, labels in groups:
        for index, label in zip(indices.tolist(), labels.tolist(), strict=True):
            members[index].append(size + label)
        size += int(labels.max()) + 1 if len(labels) else 0
    buckets: list[list[int]] = [[] for _ in range(size)]
    for index, labels_of_text in enumerate(members):
        yield [buckets[label] for label in labels_of_text if buckets[label]]
        for label in labels_of_text:
            buckets[label].append(index)


def rows_for(jaccard: float, hashes: int, recall: float) -> int:
    """The largest number of rows per band at which pairs collide at least with probability ``recall``."""
    fits = [rows for rows in range(1, 13) if 1 - (1 - jaccard**rows) ** (hashes // rows) >= recall]
    return max(fits, default=1)


def _groups(
    codes: Codes, multipliers: NDArray[np.uint32], rows: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield, for each band, the indices of all texts that share their key with another text, and labels."""
    hashes, starts = codes
    edges = [*starts[::_CHUNK_SIZE].tolist(), len(hashes)]
    chunks = [
        (hashes[begin:end], starts[chunk * _CHUNK_SIZE : (chunk + 1) * _CHUNK_SIZE] - begin)
        for chunk, (begin, end) in enumerate(pairwise(edges))
    ]
    for band in range(len(multipliers) // rows):
        key = np.concatenate([_key(*chunk, multipliers[band * rows : (band + 1) * rows]) for chunk in chunks])
        _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
        indices = np.flatnonzero(counts[inverse] > 1)
        _, labels = np.unique(inverse[indices], return_inverse=True)
        yield indices, labels.astype(np.intp)


def _key(
    hashes: NDArray[np.uint32], starts: NDArray[np.intp], multipliers: NDArray[np.uint32]
) -> NDArray[np.uint64]:
    """Return the key of each text in one band: a hash of its MinHash values."""
    key = np.zeros(len(starts), dtype=np.uint64)
    for multiplier in multipliers:
        smallest = np.minimum.reduceat(hashes * multiplier, starts)
        key = _mix(key * np.uint64(0x9E3779B97F4A7C15) + smallest)
    return key


def _codes(texts: Sequence[str]) -> tuple[Codes, Codes]:
    """Return the hashes of all bigrams, and the hashes of distinct bigrams."""
    parts = [_chunk_hashes(texts[start : start + _CHUNK_SIZE]) for start in range(0, len(texts), _CHUNK_SIZE)]
    hashed, sizes, single, single_sizes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return (hashed, _starts(sizes)), (single, _starts(single_sizes))


def _chunk_hashes(
    texts: Sequence[str],
) -> tuple[NDArray[np.uint32], NDArray[np.intp], NDArray[np.uint32], NDArray[np.intp]]:
    """Return the hashes of all bigrams, their number in each text, and both for distinct bigrams only."""
    codes, occurrence, sizes = bigram_codes(texts)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    first = occurrence == 0
    mixed = _mix(codes ^ _mix(occurrence.astype(np.uint64) * np.uint64(0xD1B54A32D192ED03)))
    single_sizes = np.bincount(owner[first], minlength=len(sizes))
    hashed = (mixed >> np.uint64(32)).astype(np.uint32)
    return hashed, sizes, hashed[first], single_sizes


def _starts(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.intp)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return each value scrambled by the final mixing step of the hash function splitmix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))

"""Count clipped n-grams, from which BLEU is computed; the counts are in sacrebleu's order.

Clipped means that an n-gram of the text counts at most as often as it occurs in a reference.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_ORDER = 4
"""Length of the longest n-grams that BLEU counts."""


def bleu_counts(tokens: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """Return the counts of a text from which BLEU is computed."""
    limits = all_ngrams(references[0])
    for reference in references[1:]:
        limits |= all_ngrams(reference)
    correct = [0] * MAX_ORDER
    for gram, count in all_ngrams(tokens).items():
        if gram in limits:
            limit = limits[gram]
            correct[len(gram) - 1] += count if count < limit else limit
    length = len(tokens)
    total = [max(length - n, 0) for n in range(MAX_ORDER)]
    return [length, closest_length(map(len, references), length), *correct, *total]


def closest_length(lengths: Iterable[int], length: int) -> int:
    """Return the length that is closest to ``length``; of two equally close lengths, the shorter."""
    return min(lengths, key=lambda other: (abs(other - length), other))


def all_ngrams(tokens: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Return the count of each n-gram, for n from 1 to 4."""
    second, third, fourth = tokens[1:], tokens[2:], tokens[3:]
    return Counter(
        chain(
            zip(tokens),  # 1-grams as tuples of one token
            zip(tokens, second, strict=False),
            zip(tokens, second, third, strict=False),
            zip(tokens, second, third, fourth, strict=False),
        )
    )

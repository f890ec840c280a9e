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
    """Return the counts of a text from which BLEU is computed.

    The counts are the number of tokens, the reference length that is closest to this number, the numbers of
    matching 1- to 4-grams (four counts), and the numbers of all 1- to 4-grams (four counts).

    Args:
        tokens: Tokens of the hypothesis.
        references: Tokens of each reference. The matches of an n-gram are limited to its largest count in a
            single reference.

    Examples:
        >>> bleu_counts("the the the".split(), ["the cat".split(), "the the".split()])
        [3, 2, 2, 1, 0, 0, 3, 2, 1, 0]
    """
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
    """Return the length that is closest to ``length``; of two equally close lengths, the shorter.

    Examples:
        >>> closest_length([8, 4, 1], 6)
        4
    """
    return min(lengths, key=lambda other: (abs(other - length), other))


def all_ngrams(tokens: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Return the count of each n-gram, for n from 1 to 4.

    Examples:
        >>> all_ngrams("aba")[("a",)], all_ngrams("aba")[("a", "b")], len(all_ngrams("aba"))
        (2, 1, 5)
    """
    second, third, fourth = tokens[1:], tokens[2:], tokens[3:]
    return Counter(
        chain(
            zip(tokens),  # 1-grams as tuples of one token
            zip(tokens, second, strict=False),
            zip(tokens, second, third, strict=False),
            zip(tokens, second, third, fourth, strict=False),
        )
    )

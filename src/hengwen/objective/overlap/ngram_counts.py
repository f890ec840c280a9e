"""Clipped n-gram counts: the sufficient statistics of BLEU, laid out as sacrebleu does."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ORDER = 4


def bleu_counts(tokens: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """Return length, closest reference length, matches of 1- to 4-grams, and totals of 1- to 4-grams.

    Args:
        tokens: Of the hypothesis.
        references: Tokens of each; an n-gram counts at most as often as the reference that has it most.

    Examples:
        >>> bleu_counts("the the the".split(), ["the cat".split(), "the the".split()])
        [3, 2, 2, 1, 0, 0, 3, 2, 1, 0]
    """
    wanted = all_ngrams(references[0])
    for reference in references[1:]:
        wanted |= all_ngrams(reference)
    correct = [0] * ORDER
    for gram, count in all_ngrams(tokens).items():
        if gram in wanted:
            most = wanted[gram]
            correct[len(gram) - 1] += count if count < most else most
    length = len(tokens)
    total = [max(length - n, 0) for n in range(ORDER)]
    return [length, closest(map(len, references), length), *correct, *total]


def closest(lengths: Iterable[int], length: int) -> int:
    """Return the closest length, of two the shorter.

    Examples:
        >>> closest([8, 4, 1], 6)
        4
    """
    return min(lengths, key=lambda other: (abs(other - length), other))


def all_ngrams(tokens: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Return how often each n-gram comes, for n from 1 to 4.

    Examples:
        >>> all_ngrams("aba")[("a",)], all_ngrams("aba")[("a", "b")], len(all_ngrams("aba"))
        (2, 1, 5)
    """
    second, third, fourth = tokens[1:], tokens[2:], tokens[3:]
    return Counter(
        chain(
            zip(tokens),  # one argument
            zip(tokens, second, strict=False),
            zip(tokens, second, third, strict=False),
            zip(tokens, second, third, fourth, strict=False),
        )
    )

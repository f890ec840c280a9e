"""Compute self-BLEU: the BLEU of each text of a set against all other texts, averaged over the set."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, ClassVar

from hengwen.argument_types import checked_arguments
from hengwen.objective.overlap.bleu import BleuOptions, Tokenize, bleu_from_statistics
from hengwen.objective.overlap.ngram_counts import MAX_ORDER, all_ngrams, closest_length
from hengwen.objective.single_score import Scope, SingleScore, check_scope
from hengwen.objective.text.tokenize import Width, fold_width
from hengwen.records import Outcome, Response, Sample, Scale

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

Gram = tuple[str, ...]
TopCounts = tuple[int, int, int]
"""Largest count of an n-gram in one text, index of that text, and largest count in any other text."""


@checked_arguments
def self_bleu(texts: Sequence[str], *, tokenize: Tokenize = "auto", width: Width = "keep") -> float:
    """Return the mean BLEU of each text against all other texts.

    Args:
        texts: Two or more texts. The computing time grows with the total length of the texts, not with its
            square.
        tokenize: Name of a tokenizer of ``bleu``; ``auto`` chooses a single tokenizer for all texts.
        width: ``fold`` compares the texts after Unicode normalisation (NFKC), which makes full-width
            characters half-width.

    Returns:
        A value in 0..100. A high value means little variety; 100 means that every text equals another text.
        The value grows with the number of texts, so compare only sets of the same size.

    Raises:
        ValueError: There are fewer than two texts, or a text is empty.

    Notes:
        Zhu et al., Texygen, SIGIR 2018; each BLEU is sacrebleu's sentence BLEU with effective order (n-gram
        lengths that a short text does not have are skipped).

    Examples:
        >>> self_bleu(["今晚月色真美"] * 3)
        100.0
        >>> round(self_bleu(["风吹", "风来"]), 2)  # 1 of 2, 0 of 1 smoothed to 1/2: the root of 1/4
        50.0
    """
    values = self_bleus(texts, BleuOptions(tokenize, width=width))
    return fsum(values) / len(values)


def self_bleus(texts: Sequence[str], options: BleuOptions) -> list[float]:
    """Return the BLEU of each text against all other texts, in the order of the texts.

    Raises:
        ValueError: There are fewer than two texts, or a text is empty.
    """
    if len(texts) < 2:
        raise ValueError(f"self-BLEU needs two texts or more, got {len(texts)}")
    for number, text in enumerate(texts, 1):
        if not text.strip():
            raise ValueError(f"text {number} of {len(texts)} is empty: its self-BLEU is not defined")
    tokenizer = options.resolve_tokenizer([fold_width(text, options.width) for text in texts])
    split = options.splitter(tokenizer)
    tokens = [split(fold_width(text, options.width)) for text in texts]
    counts = [all_ngrams(text_tokens) for text_tokens in tokens]
    top_counts = _top_counts(counts)
    lengths = sorted(map(len, tokens))
    values = []
    for index, text_counts in enumerate(counts):
        length = len(tokens[index])
        matches = _clipped_counts(text_counts, top_counts, index)
        total = [length, _closest_other(lengths, length), *matches]
        values.append(bleu_from_statistics(total, options, tokenizer, len(texts) - 1).score)
    return values


def _top_counts(counts: Sequence[Counter[Gram]]) -> dict[Gram, TopCounts]:
    top_counts: dict[Gram, TopCounts] = {}
    for index, text_counts in enumerate(counts):
        for gram, count in text_counts.items():
            first, first_index, second = top_counts.get(gram, (0, -1, 0))
            if count > first:
                top_counts[gram] = count, index, first
            elif count > second:
                top_counts[gram] = first, first_index, count
    return top_counts


def _clipped_counts(text_counts: Counter[Gram], top_counts: dict[Gram, TopCounts], index: int) -> list[int]:
    """Return the counts of 1- to 4-grams that another text contains, then the counts of all 1- to 4-grams."""
    correct, total = [0] * MAX_ORDER, [0] * MAX_ORDER
    for gram, count in text_counts.items():
        first, first_index, second = top_counts[gram]
        order = len(gram) - 1
        total[order] += count
        correct[order] += min(count, second if first_index == index else first)
    return correct + total


def _closest_other(lengths: list[int], length: int) -> int:
    """Return the length of another text that is closest to ``length``; of two equally close, the shorter.

    Args:
        lengths: Sorted lengths of all texts.
        length: Length of the present text, which is also in ``lengths``.
    """
    start = bisect_left(lengths, length)
    if start + 1 < len(lengths) and lengths[start + 1] == length:
        return length
    neighbours = lengths[max(start - 1, 0) : start] + lengths[start + 1 : start + 2]
    return closest_length(neighbours, length)


@dataclass(frozen=True, slots=True)
class SelfBleu(SingleScore):
    """Score a set of answers by its self-BLEU: the mean BLEU of each answer against all other answers."""

    scale: ClassVar[Scale] = Scale(low=0, high=100, higher_is_better=False)
    scope: Scope = "repeats"
    tokenize: Tokenize = "auto"
    width: Width = "keep"
    options: BleuOptions = field(init=False, repr=False, compare=False)
    """Settings of each BLEU, from ``tokenize`` and ``width``."""

    def __post_init__(self) -> None:
        check_scope(self.scope)
        object.__setattr__(self, "options", BleuOptions(self.tokenize, width=self.width))

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        return f"self_bleu|scope:{self.scope}|{self.options.plan_signature}"

    @property
    def name(self) -> str:
        """Name of the score."""
        return f"self_bleu.{self.scope}"

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Outcome]:
        """Return the score of a set of answers; a set of only one answer is ``not_applicable``.

        Raises:
            ValueError: An answer is empty.
        """
        if len(items) < 2:
            return [self.not_applicable("self-BLEU compares answers with each other, and there is only one")]
        values = self_bleus([response.text for _, response in items], self.options)
        return [self.build_score(fsum(values) / len(values), details={"n": len(values)})]

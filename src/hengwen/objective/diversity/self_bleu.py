"""self-BLEU: how far each text of a set is made of the n-grams of the others."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hengwen.objective.diversity.scorers import Scope, check_scope
from hengwen.objective.overlap.bleu import BleuOptions, Tokenize, bleu_of, check_options
from hengwen.objective.overlap.ngram_counts import ORDER, all_ngrams, closest
from hengwen.objective.text.tokenize import Width, fold_width
from hengwen.records import Response, Sample, Scale, Score

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

Gram = tuple[str, ...]


def self_bleu(texts: Sequence[str], *, tokenize: Tokenize = "auto", width: Width = "keep") -> float:
    """Return the mean BLEU of each text against all the others.

    Args:
        texts: Two or more. Time grows with their sum of lengths, not with its square.
        tokenize: As in ``bleu``, chosen once from all texts.
        width: As in ``bleu``.

    Returns:
        0..100; 100 where every text is among the others. High means little variety. It grows with the
        number of
        texts: compare sets of one size.

    Raises:
        ValueError: There are fewer than two texts, or one is empty.

    Notes:
        Zhu et al., Texygen, SIGIR 2018; each BLEU is sacrebleu's sentence BLEU with effective order.

    Examples:
        >>> self_bleu(["今晚月色真美"] * 3)
        100.0
        >>> round(self_bleu(["风吹", "风来"]), 2)  # 1 of 2, 0 of 1 smoothed to 1/2: the root of 1/4
        50.0
    """
    values = self_bleus(texts, check_options(tokenize, width=width))
    return sum(values) / len(values)


def self_bleus(texts: Sequence[str], options: BleuOptions) -> list[float]:
    """Return the BLEU of each text against all the others, in order.

    Raises:
        ValueError: As in :func:`self_bleu`.
    """
    if len(texts) < 2:
        raise ValueError(f"self-BLEU needs two texts or more, got {len(texts)}")
    for place, text in enumerate(texts, 1):
        if not text.strip():
            raise ValueError(f"text {place} of {len(texts)} is empty: its self-BLEU is not defined")
    tokenizer = options.of([fold_width(text, options.width) for text in texts])
    split = options.splitter(tokenizer)
    tokens = [split(fold_width(text, options.width)) for text in texts]
    counts = [all_ngrams(own) for own in tokens]
    most = _two_most(counts)
    lengths = sorted(map(len, tokens))
    found = []
    for place, own in enumerate(tokens):
        stats = [len(own), _closest_other(lengths, len(own)), *_clipped(counts[place], most, place)]
        found.append(bleu_of(stats, options, tokenizer, len(texts) - 1).score)
    return found


def _two_most(counts: Sequence[Counter[Gram]]) -> dict[Gram, tuple[int, int, int]]:
    """For each n-gram its largest count in a text, the place of that text, the largest count elsewhere."""
    most: dict[Gram, tuple[int, int, int]] = {}
    for place, own in enumerate(counts):
        for gram, count in own.items():
            first, where, second = most.get(gram, (0, -1, 0))
            if count > first:
                most[gram] = count, place, first
            elif count > second:
                most[gram] = first, where, count
    return most


def _clipped(own: Counter[Gram], most: dict[Gram, tuple[int, int, int]], place: int) -> list[int]:
    correct, total = [0] * ORDER, [0] * ORDER
    for gram, count in own.items():
        first, where, second = most[gram]
        order = len(gram) - 1
        total[order] += count
        correct[order] += min(count, second if where == place else first)
    return correct + total


def _closest_other(lengths: list[int], own: int) -> int:
    """The closest length among the others, ties to the shorter; ``lengths`` is sorted and has our own."""
    start = bisect_left(lengths, own)
    if start + 1 < len(lengths) and lengths[start + 1] == own:
        return own
    near = lengths[max(start - 1, 0) : start] + lengths[start + 1 : start + 2]
    return closest(near, own)


@dataclass(frozen=True, slots=True)
class SelfBleu:
    """``self_bleu`` over the repeats of a sample, or over all answers of a checkpoint to a task."""

    scope: Scope = "repeats"
    tokenize: Tokenize = "auto"
    width: Width = "keep"

    def __post_init__(self) -> None:
        check_scope(self.scope)
        check_options(self.tokenize, width=self.width)

    @property
    def signature(self) -> str:
        """All that can move the number."""
        return f"self_bleu|scope:{self.scope}|{check_options(self.tokenize, width=self.width).plan_signature}"

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return (f"self_bleu.{self.scope}",)

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        """Score a set of answers."""
        values = self_bleus(
            [response.text for _, response in items], check_options(self.tokenize, width=self.width)
        )
        return [
            Score(
                name=self.names[0],
                value=sum(values) / len(values),
                signature=self.signature,
                scale=Scale(low=0, high=100, higher_is_better=False),
                details={"n": len(values)},
            )
        ]

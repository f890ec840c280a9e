"""Scorers of a plan that measure the diversity of answers."""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Any, ClassVar

from hengwen._internal.plugins import check_texts, whole_number
from hengwen.objective.checks import Scope, SingleScore, check_scope
from hengwen.objective.diversity.compare_sets import interval_details, ngram_details
from hengwen.objective.diversity.metrics import (
    GramTable,
    TokenChunk,
    compression_ratio,
    count_some,
    defined_entropy,
    distinct_n,
    entropies,
    first_rows,
    repetition_rate,
    summed,
    type_token_ratio,
)
from hengwen.objective.overlap.bleu import (
    MAX_ORDER,
    BleuOptions,
    Tokenize,
    bleu_from_statistics,
    closest_length,
)
from hengwen.objective.text import Width, choose_tokenizer_of_set, fold_width
from hengwen.records import Outcome, Response, Sample, Scale, Score

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class _NgramScorer(SingleScore):
    """Base class of the scorers that count n-grams in a set of answers."""

    prefix: ClassVar[str]
    version: ClassVar[int]
    signature_pattern: ClassVar[str] = "{0.prefix}|n:{0.n}|scope:{0.scope}|tok:mixed|v:{0.version}"
    n: int = 2
    scope: Scope = "checkpoint"

    def __post_init__(self) -> None:
        whole_number("n", self.n)
        check_scope(self.scope)

    def interval(self, items: Sequence[tuple[Sample, Response]], value: float) -> dict[str, Any]:
        """Return the interval of the value as details; empty for the answers to one prompt."""
        return ngram_details(items, value, self.n, self.prefix) if self.scope == "checkpoint" else {}


@dataclass(frozen=True)
class DistinctN(_NgramScorer):
    """Score a set of answers by its share of distinct n-grams, with the function ``distinct_n``."""

    name_pattern: ClassVar[str] = "distinct_{0.n}.{0.scope}"
    prefix: ClassVar[str] = "distinct_n"
    version: ClassVar[int] = 2

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        """Return the score of a set of answers."""
        value = distinct_n((response.text for _, response in items), self.n)
        return [self.build_score(value, details=self.interval(items, value))]


@dataclass(frozen=True)
class NgramEntropy(_NgramScorer):
    """Score a set of answers by its normalised n-gram entropy; the details contain the entropy in bits."""

    name_pattern: ClassVar[str] = "entropy_{0.n}.{0.scope}"
    prefix: ClassVar[str] = "ngram_entropy"
    version: ClassVar[int] = 1

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        """Return the score of a set of answers."""
        bits, normalized = entropies(count_some((response.text for _, response in items), self.n))
        value = defined_entropy(normalized, self.n)
        details = {"bits": bits, **self.interval(items, value)}
        return [self.build_score(value, reason=f"{bits:.3f} bits", details=details)]


def _compression(items: Sequence[tuple[Sample, Response]]) -> float:
    return compression_ratio(response.text for _, response in items)


@dataclass(frozen=True, slots=True)
class Compression(SingleScore):
    """Score a set of answers by its compression ratio, with the function ``compression_ratio``."""

    name_pattern: ClassVar[str] = "compression.{0.scope}"
    signature_pattern: ClassVar[str] = (
        f"compression|scope:{{0.scope}}|utf-8|zlib:{zlib.ZLIB_RUNTIME_VERSION}|level:9|v:1"
    )
    scale: ClassVar[Scale] = Scale(low=0, high=1100, higher_is_better=False)
    scope: Scope = "checkpoint"

    def __post_init__(self) -> None:
        check_scope(self.scope)

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        """Return the score of a set of answers."""
        value = _compression(items)
        details = interval_details(items, value, _compression) if self.scope == "checkpoint" else {}
        return [self.build_score(value, details=details)]


@dataclass(frozen=True, slots=True)
class Repetition(SingleScore):
    """Score each answer by its share of repeated n-grams, with the function ``repetition_rate``."""

    name_pattern: ClassVar[str] = "repetition_{0.n}.share"
    signature_pattern: ClassVar[str] = "repetition|n:{0.n}|tok:mixed|v:1"
    scale: ClassVar[Scale] = Scale(low=0, high=1, higher_is_better=False)
    n: int = 4

    def __post_init__(self) -> None:
        whole_number("n", self.n)

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return the score of one answer."""
        return [self.build_score(repetition_rate(response.text, self.n))]


@dataclass(frozen=True, slots=True)
class TypeTokenRatio(SingleScore):
    """Score each answer by its share of distinct tokens, with the function ``type_token_ratio``."""

    name_pattern: ClassVar[str] = "type_token_ratio.share"
    window: int | None = None

    def __post_init__(self) -> None:
        if self.window is not None:
            whole_number("window", self.window)

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        return f"type_token_ratio|window:{self.window or 'whole'}|tok:mixed|v:1"

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return the score of one answer."""
        return [self.build_score(type_token_ratio(response.text, window=self.window))]


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
    check_texts("texts", texts)
    values = self_bleus(texts, BleuOptions(tokenize, width=width))
    return fsum(values) / len(values)


def self_bleus(texts: Collection[str], options: BleuOptions) -> list[float]:
    """Return the BLEU of each text against all other texts, in the order of the texts."""
    size = len(texts)
    if size < 2:
        raise ValueError(f"self-BLEU needs two texts or more, got {size}")
    for number, text in enumerate(texts, 1):
        if not text.strip():
            raise ValueError(f"text {number} of {size} is empty: its self-BLEU is not defined")
    tokenizer = options.tokenize
    if tokenizer == "auto":
        tokenizer = choose_tokenizer_of_set(lambda: (fold_width(text, options.width) for text in texts))
    split = options.splitter(tokenizer)
    lengths, matches = _matches(split(fold_width(text, options.width)) for text in texts)
    in_order = sorted(lengths)
    values = []
    for length, correct in zip(lengths, matches, strict=True):
        total = [max(length - order, 0) for order in range(MAX_ORDER)]
        counts = [length, _closest_other(in_order, length), *correct, *total]
        values.append(bleu_from_statistics(counts, options, tokenizer, size - 1).score)
    return values


def _matches(texts: Iterable[Sequence[str]]) -> tuple[list[int], list[list[int]]]:
    """Return the number of tokens of each text, and how many of its 1- to 4-grams match another text."""
    import numpy as np

    chunk = TokenChunk()
    lengths: list[int] = []
    orders = range(1, MAX_ORDER + 1)
    with ExitStack() as stack:
        tables = [stack.enter_context(GramTable(order)) for order in orders]

        def take() -> None:
            for table, (grams, owners) in zip(tables, chunk.take(orders), strict=True):
                table.add(grams, owners)

        for tokens in texts:
            chunk.add(tokens, len(lengths))
            lengths.append(len(tokens))
            if chunk.is_full:
                take()
        if len(chunk):
            take()
        matches = np.stack([np.maximum(np.array(lengths) - order, 0) for order in range(MAX_ORDER)], axis=1)
        for order, table in enumerate(tables):
            for group in table.groups():
                owners, losses = _losses(*group)
                np.subtract.at(matches[:, order], owners, losses)
    return lengths, matches.tolist()


def _losses(grams: NDArray[Any], owners: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return, for each n-gram, the text with its largest count, and this count minus the second largest."""
    import numpy as np

    rows, counts = summed(np.column_stack([owners, grams]))  # sorted by n-gram, then by text
    counts = counts.astype(np.int64)
    starts = first_rows(rows[:, 1:])
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(rows)))
    order = np.lexsort((-counts, group))  # each group still begins at its index in starts
    counts, in_order = counts[order], rows[order, 0]
    has_second = np.diff(starts, append=len(rows)) > 1
    second = np.where(has_second, counts[np.minimum(starts + 1, len(counts) - 1)], 0)
    return in_order[starts].astype(np.int64), counts[starts] - second


def _closest_other(lengths: list[int], length: int) -> int:
    """Return the length of another text that is closest to ``length``; of two equally close, the shorter."""
    start = bisect_left(lengths, length)
    if start + 1 < len(lengths) and lengths[start + 1] == length:
        return length
    neighbours = lengths[max(start - 1, 0) : start] + lengths[start + 1 : start + 2]
    return closest_length(neighbours, length)


class _Texts(Collection[str]):
    """The texts of pairs (sample, response)."""

    def __init__(self, items: Collection[tuple[Sample, Response]]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[str]:
        return (response.text for _, response in self._items)

    def __contains__(self, text: object) -> bool:
        return any(text == other for other in self)


@dataclass(frozen=True, slots=True)
class SelfBleu(SingleScore):
    """Score a set of answers by its self-BLEU: the mean BLEU of each answer against all other answers."""

    name_pattern: ClassVar[str] = "self_bleu.{0.scope}"
    signature_pattern: ClassVar[str] = "self_bleu|scope:{0.scope}|{0.options.plan_signature}"
    scale: ClassVar[Scale] = Scale(low=0, high=100, higher_is_better=False)
    scope: Scope = "repeats"
    tokenize: Tokenize = "auto"
    width: Width = "keep"
    options: BleuOptions = field(init=False, repr=False, compare=False)
    """Settings of each BLEU, from ``tokenize`` and ``width``."""

    def __post_init__(self) -> None:
        check_scope(self.scope)
        object.__setattr__(self, "options", BleuOptions(self.tokenize, width=self.width))

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Outcome]:
        """Return the score of a set of answers; a set of only one answer is ``not_applicable``."""
        if len(items) < 2:
            return [self.not_applicable("self-BLEU compares answers with each other, and there is only one")]
        value = self._mean(items)
        details: dict[str, Any] = {"n": len(items)}
        if self.scope == "checkpoint":
            details |= interval_details(items, value, self._mean)
        return [self.build_score(value, details=details)]

    def _mean(self, items: Sequence[tuple[Sample, Response]]) -> float:
        values = self_bleus(_Texts(items), self.options)
        return fsum(values) / len(values)

"""Scorers of a plan that measure the diversity of answers."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from hengwen._internal.checks import whole_number
from hengwen.objective.diversity.group_interval import interval_details, ngram_details
from hengwen.objective.diversity.metrics import (
    compression_ratio,
    count_some,
    defined_entropy,
    distinct_n,
    entropies,
    repetition_rate,
    type_token_ratio,
)
from hengwen.objective.option_checks import Scope, SingleScore, check_scope
from hengwen.records import Response, Sample, Scale, Score

if TYPE_CHECKING:
    from collections.abc import Sequence


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

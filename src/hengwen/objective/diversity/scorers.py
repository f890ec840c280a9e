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
    n: int = 2
    scope: Scope = "checkpoint"

    def __post_init__(self) -> None:
        whole_number("n", self.n)
        check_scope(self.scope)

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        return f"{self.prefix}|n:{self.n}|scope:{self.scope}|tok:mixed|v:{self.version}"

    def interval(self, items: Sequence[tuple[Sample, Response]], value: float) -> dict[str, Any]:
        """Return the interval of the value as details; empty for the answers to one prompt."""
        return ngram_details(items, value, self.n, self.prefix) if self.scope == "checkpoint" else {}


@dataclass(frozen=True)
class DistinctN(_NgramScorer):
    """Score a set of answers by its share of distinct n-grams, with the function ``distinct_n``."""

    prefix: ClassVar[str] = "distinct_n"
    version: ClassVar[int] = 2

    @property
    def name(self) -> str:
        """Name of the score."""
        return f"distinct_{self.n}.{self.scope}"

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        """Return the score of a set of answers."""
        value = distinct_n((response.text for _, response in items), self.n)
        return [self.build_score(value, details=self.interval(items, value))]


@dataclass(frozen=True)
class NgramEntropy(_NgramScorer):
    """Score a set of answers by its normalised n-gram entropy; the details contain the entropy in bits."""

    prefix: ClassVar[str] = "ngram_entropy"
    version: ClassVar[int] = 1

    @property
    def name(self) -> str:
        """Name of the score."""
        return f"entropy_{self.n}.{self.scope}"

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

    scale: ClassVar[Scale] = Scale(low=0, high=1100, higher_is_better=False)
    scope: Scope = "checkpoint"

    def __post_init__(self) -> None:
        check_scope(self.scope)

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value, including the version of zlib."""
        return f"compression|scope:{self.scope}|utf-8|zlib:{zlib.ZLIB_RUNTIME_VERSION}|level:9|v:1"

    @property
    def name(self) -> str:
        """Name of the score."""
        return f"compression.{self.scope}"

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        """Return the score of a set of answers."""
        value = _compression(items)
        details = interval_details(items, value, _compression) if self.scope == "checkpoint" else {}
        return [self.build_score(value, details=details)]


@dataclass(frozen=True, slots=True)
class Repetition(SingleScore):
    """Score each answer by its share of repeated n-grams, with the function ``repetition_rate``."""

    scale: ClassVar[Scale] = Scale(low=0, high=1, higher_is_better=False)
    n: int = 4

    def __post_init__(self) -> None:
        whole_number("n", self.n)

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        return f"repetition|n:{self.n}|tok:mixed|v:1"

    @property
    def name(self) -> str:
        """Name of the score."""
        return f"repetition_{self.n}.share"

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return the score of one answer."""
        return [self.build_score(repetition_rate(response.text, self.n))]


@dataclass(frozen=True, slots=True)
class TypeTokenRatio(SingleScore):
    """Score each answer by its share of distinct tokens, with the function ``type_token_ratio``."""

    window: int | None = None

    def __post_init__(self) -> None:
        if self.window is not None:
            whole_number("window", self.window)

    @property
    def signature(self) -> str:
        """Text with every setting that can change the value."""
        return f"type_token_ratio|window:{self.window or 'whole'}|tok:mixed|v:1"

    @property
    def name(self) -> str:
        """Name of the score."""
        return "type_token_ratio.share"

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return the score of one answer."""
        return [self.build_score(type_token_ratio(response.text, window=self.window))]

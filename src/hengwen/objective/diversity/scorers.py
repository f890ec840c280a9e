"""Diversity scorers for plans."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from hengwen._internal.checks import whole_number
from hengwen.objective.diversity.metrics import (
    compression_ratio,
    distinct_n,
    ngram_entropy,
    repetition_rate,
    type_token_ratio,
)
from hengwen.records import Response, Sample, Scale, Score

if TYPE_CHECKING:
    from collections.abc import Sequence


Scope = Literal["repeats", "checkpoint"]


def check_scope(scope: str) -> None:
    """Raise ValueError where the scope of a set scorer is none."""
    if scope not in get_args(Scope):
        raise ValueError(f"scope must be 'repeats' or 'checkpoint', got {scope!r}")


_SHARE = Scale(low=0, high=1)


@dataclass(frozen=True, slots=True)
class DistinctN:
    """``distinct_n`` over the answers of a checkpoint to a task, or over the repeats of each sample."""

    n: int = 2
    scope: Scope = "checkpoint"

    def __post_init__(self) -> None:
        whole_number("n", self.n)
        check_scope(self.scope)

    @property
    def signature(self) -> str:
        """All that can move the number."""
        return f"distinct_n|n:{self.n}|scope:{self.scope}|tok:mixed|v:2"

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return (f"distinct_{self.n}.{self.scope}",)

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        """Score a set of answers."""
        value = distinct_n([response.text for _, response in items], self.n)
        return [Score(name=self.names[0], value=value, signature=self.signature, scale=_SHARE)]


@dataclass(frozen=True, slots=True)
class NgramEntropy:
    """``ngram_entropy`` of a set, normalised; the bits are in the details."""

    n: int = 2
    scope: Scope = "checkpoint"

    def __post_init__(self) -> None:
        whole_number("n", self.n)
        check_scope(self.scope)

    @property
    def signature(self) -> str:
        """All that can move the number."""
        return f"ngram_entropy|n:{self.n}|scope:{self.scope}|tok:mixed|v:1"

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return (f"entropy_{self.n}.{self.scope}",)

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        """Score a set of answers."""
        texts = [response.text for _, response in items]
        value, bits = ngram_entropy(texts, self.n, normalize=True), ngram_entropy(texts, self.n)
        return [
            Score(
                name=self.names[0],
                value=value,
                signature=self.signature,
                scale=_SHARE,
                reason=f"{bits:.3f} bits",
                details={"bits": bits},
            )
        ]


@dataclass(frozen=True, slots=True)
class Compression:
    """``compression_ratio`` of a set."""

    scope: Scope = "checkpoint"

    def __post_init__(self) -> None:
        check_scope(self.scope)

    @property
    def signature(self) -> str:
        """All that can move the number, the build of zlib among it."""
        return f"compression|scope:{self.scope}|utf-8|zlib:{zlib.ZLIB_RUNTIME_VERSION}|level:9|v:1"

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return (f"compression.{self.scope}",)

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        """Score a set of answers."""
        value = compression_ratio([response.text for _, response in items])
        scale = Scale(low=0, high=1100, higher_is_better=False)
        return [Score(name=self.names[0], value=value, signature=self.signature, scale=scale)]


@dataclass(frozen=True, slots=True)
class Repetition:
    """``repetition_rate`` of each answer."""

    n: int = 4

    def __post_init__(self) -> None:
        whole_number("n", self.n)

    @property
    def signature(self) -> str:
        """All that can move the number."""
        return f"repetition|n:{self.n}|tok:mixed|v:1"

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return (f"repetition_{self.n}.share",)

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Score one answer."""
        value = repetition_rate(response.text, self.n)
        scale = Scale(low=0, high=1, higher_is_better=False)
        return [Score(name=self.names[0], value=value, signature=self.signature, scale=scale)]


@dataclass(frozen=True, slots=True)
class TypeTokenRatio:
    """``type_token_ratio`` of each answer."""

    window: int | None = None

    def __post_init__(self) -> None:
        if self.window is not None:
            whole_number("window", self.window)

    @property
    def signature(self) -> str:
        """All that can move the number."""
        return f"type_token_ratio|window:{self.window or 'whole'}|tok:mixed|v:1"

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return ("type_token_ratio.share",)

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Score one answer."""
        value = type_token_ratio(response.text, window=self.window)
        return [Score(name=self.names[0], value=value, signature=self.signature, scale=_SHARE)]

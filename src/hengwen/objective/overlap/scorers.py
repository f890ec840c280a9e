"""Scorers of a plan that compare answers with references: each answer alone, or all answers together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from hengwen._internal.checks import whole_number
from hengwen.objective.option_checks import SingleScore, check_choice
from hengwen.objective.overlap import bleu as bleus
from hengwen.objective.overlap import chrf as chrfs
from hengwen.objective.overlap import rouge as rouges
from hengwen.objective.overlap import ter as ters
from hengwen.objective.overlap.corpus import RESAMPLES, corpus_interval
from hengwen.objective.overlap.corpus_rows import (
    PERCENT_SCALE,
    RATIO_SCALE,
    TER_SCALE,
    CorpusRows,
    bleu_rows,
    chrf_rows,
    ter_rows,
)
from hengwen.objective.overlap.pairs import as_references, usable_corpus
from hengwen.objective.text import choose_bleu_tokenizer
from hengwen.records import Response, Sample, Scale, Score

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence


class RequiresReferences:
    """Mixin of scorers that need references: it checks that each sample has a reference."""

    __slots__ = ()

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Raise ValueError if the sample has no reference, or only blank references."""
        as_references(sample.references)
        return ()


class AutoTokenizerMixin:
    """Mixin that resolves ``tokenize: auto`` once for a task, from the references of all its samples."""

    __slots__ = ()

    def for_samples(self, samples: Collection[Sample]) -> Any:
        """Return this scorer with a tokenizer that fits the references; its signature names the tokenizer."""
        scorer: Any = self
        references = [text for sample in samples for text in sample.references]
        if scorer.tokenize != "auto" or not references:
            return scorer
        return replace(scorer, tokenize=choose_bleu_tokenizer(references))


class OverlapScore(SingleScore):
    """Base class of a scorer whose options are the options of an overlap metric."""

    prefix: ClassVar[str]
    signature_pattern: ClassVar[str] = "{0.prefix}|{0.plan_signature}"
    plan_signature: str


@dataclass(frozen=True)
class BleuScorer(RequiresReferences, AutoTokenizerMixin, OverlapScore, bleus.BleuOptions):
    """Score each answer by its BLEU; ``tokenize: auto`` chooses the tokenizer by the task's references."""

    prefix: ClassVar[str] = "bleu"
    name_pattern: ClassVar[str] = "bleu.sentence"
    scale: ClassVar[Scale] = PERCENT_SCALE

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return the score of one answer."""
        bleu = bleus.score_text(response.text, as_references(sample.references), self)
        details = {
            "tokenizer": bleu.tokenizer,
            "precisions": list(bleu.precisions),
            "brevity_penalty": bleu.brevity_penalty,
            "signature": bleu.signature,
        }
        return [self.build_score(bleu.score, details=details)]


@dataclass(frozen=True)
class ChrfScorer(RequiresReferences, OverlapScore, chrfs.ChrfOptions):
    """Score each answer by its chrF (character n-gram F-score)."""

    prefix: ClassVar[str] = "chrf"
    name_pattern: ClassVar[str] = "chrf.sentence"
    scale: ClassVar[Scale] = PERCENT_SCALE

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return the score of one answer."""
        chrf = chrfs.score_text(response.text, as_references(sample.references), self)
        return [self.build_score(chrf.score, details={"signature": chrf.signature})]


@dataclass(frozen=True)
class TerScorer(RequiresReferences, OverlapScore, ters.TerOptions):
    """Score each answer by its TER (translation edit rate); lower is better."""

    prefix: ClassVar[str] = "ter"
    name_pattern: ClassVar[str] = "ter.sentence"
    scale: ClassVar[Scale] = TER_SCALE

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return the score of one answer."""
        ter = ters.score_text(response.text, as_references(sample.references), self)
        details = {"edits": ter.edits, "tokenizer": ter.tokenizer, "signature": ter.signature}
        return [self.build_score(ter.score, details=details)]


@dataclass(frozen=True)
class RougeScorer(RequiresReferences, rouges.RougeOptions):
    """Score each answer by one kind of ROUGE: F, precision and recall."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scores, F first."""
        prefix = rouges.score_prefix(self.kind)
        return (f"{prefix}.f", f"{prefix}.precision", f"{prefix}.recall")

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Return F, precision and recall of one answer."""
        rouge = rouges.score_text(response.text, sample.references, self)
        values = (rouge.f, rouge.precision, rouge.recall)
        return [
            Score(name=name, value=value, signature=self.signature, scale=RATIO_SCALE)
            for name, value in zip(self.names, values, strict=True)
        ]


@dataclass(frozen=True)
class _CorpusScorer(OverlapScore):
    """Base class of a scorer that gives one value to all answers of a checkpoint, with its interval."""

    metric: ClassVar[Callable[..., CorpusRows]]
    """Function that takes texts, references and options, and returns the value and each text's counts."""
    level: float = 0.95
    resamples: int = RESAMPLES
    seed: int = 0
    scope: Literal["checkpoint"] = "checkpoint"

    def __post_init__(self) -> None:
        check_choice("scope", self.scope, ("checkpoint",))
        if isinstance(self.level, bool) or not 0 < self.level < 1:
            raise ValueError(f"level must lie in (0, 1), got {self.level!r}")
        whole_number("resamples", self.resamples)
        super().__post_init__()  # type: ignore[misc]  # the next base class validates the metric's options

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        """Return the value of all answers to samples that have a reference."""
        corpus = usable_corpus(
            [response.text for _, response in items],
            [sample.references for sample, _ in items],
            [f"sample {sample.id!r}" for sample, _ in items],
        )
        clusters = [items[index][0].cluster for index in corpus.kept]
        rows = self.metric(corpus.hypotheses, corpus.references, self)
        interval = corpus_interval(
            rows.rows,
            rows.value_of,
            clusters,
            confidence=self.level,
            resamples=self.resamples,
            seed=self.seed,
        )
        ends = interval and [max(interval[0], rows.scale.low), min(interval[1], rows.scale.high)]
        details: dict[str, Any] = {
            "ci": ends,
            "level": self.level,
            "n": len(rows.rows),
            "clusters": len(set(clusters)),
            "tokenizer": rows.tokenizer,
            "signature": rows.signature,
            **rows.details,
        }
        reason = f"{len(rows.rows)} answers, tokenizer {rows.tokenizer}"
        if corpus.failures:
            details |= {"failures": corpus.failures, "first_failure": corpus.first_failure}
            reason += f"; left out {corpus.failures}, {corpus.first_failure}"
        return [self.build_score(rows.value, reason=reason, details=details)]


@dataclass(frozen=True)
class CorpusBleu(AutoTokenizerMixin, _CorpusScorer, bleus.BleuOptions):
    """Score all answers together by corpus BLEU, with the published formula (no n-gram length is skipped)."""

    prefix: ClassVar[str] = "bleu.corpus"
    name_pattern: ClassVar[str] = "bleu.corpus"
    metric: ClassVar[Callable[..., CorpusRows]] = staticmethod(bleu_rows)
    scale: ClassVar[Scale] = PERCENT_SCALE
    effective_order: bool = False


@dataclass(frozen=True)
class CorpusChrf(_CorpusScorer, chrfs.ChrfOptions):
    """Score all answers together by corpus chrF (character n-gram F-score)."""

    prefix: ClassVar[str] = "chrf.corpus"
    name_pattern: ClassVar[str] = "chrf.corpus"
    metric: ClassVar[Callable[..., CorpusRows]] = staticmethod(chrf_rows)
    scale: ClassVar[Scale] = PERCENT_SCALE


@dataclass(frozen=True)
class CorpusTer(_CorpusScorer, ters.TerOptions):
    """Score all answers together by corpus TER (translation edit rate); lower is better."""

    prefix: ClassVar[str] = "ter.corpus"
    name_pattern: ClassVar[str] = "ter.corpus"
    metric: ClassVar[Callable[..., CorpusRows]] = staticmethod(ter_rows)
    scale: ClassVar[Scale] = TER_SCALE

"""Overlap as plug-ins: one score for each answer, or one value for all answers of a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from hengwen._internal.checks import whole_number
from hengwen.objective.overlap import bleu as bleus
from hengwen.objective.overlap import chrf as chrfs
from hengwen.objective.overlap import rouge as rouges
from hengwen.objective.overlap import ter as ters
from hengwen.objective.overlap.corpus import (
    EDITS,
    PERCENT,
    RATIO,
    CorpusScore,
    Sampling,
    bleu_score,
    chrf_score,
    ter_score,
)
from hengwen.objective.overlap.pairs import as_corpus, as_references
from hengwen.objective.overlap.resample import RESAMPLES
from hengwen.objective.text.tokenize import choose_bleu_tokenizer
from hengwen.records import Response, Sample, Score

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from hengwen.objective.text.tokenize import BleuTokenizer, TokenSplit, Width


class RequiresReferences:
    """What needs references says so before anything is paid for."""

    __slots__ = ()

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Raise where the sample has no reference, or a blank one."""
        as_references(sample.references)
        return ()


class AutoTokenizerMixin:
    """``tokenize: auto`` is settled once, by the references of all samples of a task."""

    __slots__ = ()

    def for_samples(self, samples: Collection[Sample]) -> Any:
        """Return the scorer with the tokenizer that suits the references; its signature names it."""
        made: Any = self
        if made.tokenize != "auto":
            return made
        references = [text for sample in samples for text in sample.references]
        return replace(made, tokenize=choose_bleu_tokenizer(references)) if references else made


class ScorerBase:
    """Signature and name by what a class says of itself; its options are checked when it is made."""

    prefix: ClassVar[str]
    name: ClassVar[str]

    def __post_init__(self) -> None:
        _ = self.options

    @property
    def options(self) -> Any:
        """The fields, checked."""
        raise NotImplementedError

    @property
    def signature(self) -> str:
        """All that can move the number; sacrebleu's own is in the details."""
        return f"{self.prefix}|{self.options.plan_signature}"

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return (self.name,)


@dataclass(frozen=True)
class _BleuFields(AutoTokenizerMixin, ScorerBase):
    tokenize: Literal["auto"] | BleuTokenizer = "auto"
    smooth: bleus.Smooth = "exp"
    effective_order: bool = True
    lowercase: bool = False
    width: Width = "keep"

    @property
    def options(self) -> bleus.BleuOptions:
        """The fields, checked."""
        return bleus.check_options(
            self.tokenize, self.smooth, self.effective_order, self.lowercase, self.width
        )


@dataclass(frozen=True)
class _ChrfFields(ScorerBase):
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    width: Width = "keep"

    @property
    def options(self) -> chrfs.ChrfOptions:
        """The fields, checked."""
        return chrfs.check_options(self.word_order, self.beta, self.lowercase, self.width)


@dataclass(frozen=True)
class _TerFields(ScorerBase):
    tokenize: Literal["auto"] | ters.Split = "auto"
    case_sensitive: bool = False
    width: Width = "keep"
    max_characters: int = ters.MAX_CHARACTERS

    @property
    def options(self) -> ters.TerOptions:
        """The fields, checked."""
        return ters.check_options(self.tokenize, self.case_sensitive, self.width, self.max_characters)


@dataclass(frozen=True)
class BleuScorer(RequiresReferences, _BleuFields):
    """Sentence BLEU of each answer; ``tokenize: auto`` goes by the references of the task."""

    prefix: ClassVar[str] = "bleu"
    name: ClassVar[str] = "bleu.sentence"

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Score one answer."""
        found = bleus.score_checked(response.text, as_references(sample.references), self.options)
        details = {
            "tokenizer": found.tokenizer,
            "precisions": list(found.precisions),
            "brevity_penalty": found.brevity_penalty,
            "signature": found.signature,
        }
        return [_score(self, found.score, PERCENT, details)]


@dataclass(frozen=True)
class ChrfScorer(RequiresReferences, _ChrfFields):
    """Sentence chrF of each answer."""

    prefix: ClassVar[str] = "chrf"
    name: ClassVar[str] = "chrf.sentence"

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Score one answer."""
        found = chrfs.score_checked(response.text, as_references(sample.references), self.options)
        return [_score(self, found.score, PERCENT, {"signature": found.signature})]


@dataclass(frozen=True)
class TerScorer(RequiresReferences, _TerFields):
    """TER of each answer; less is better."""

    prefix: ClassVar[str] = "ter"
    name: ClassVar[str] = "ter.sentence"

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Score one answer."""
        found = ters.score_checked(response.text, as_references(sample.references), self.options)
        details = {"edits": found.edits, "tokenizer": found.tokenizer, "signature": found.signature}
        return [_score(self, found.score, EDITS, details)]


@dataclass(frozen=True, slots=True)
class RougeScorer(RequiresReferences):
    """ROUGE of each answer: F, precision and recall of one kind."""

    kind: str = "rougeL"
    tokenize: Literal["auto"] | TokenSplit = "auto"
    beta: float = 1.0
    several: rouges.Several = "best"
    stem: bool = False
    width: Width = "keep"
    sentences: rouges.Sentences = "newline"

    def __post_init__(self) -> None:
        _ = self.options

    @property
    def options(self) -> rouges.RougeOptions:
        """The fields, checked."""
        return rouges.check_options(
            self.kind, self.tokenize, self.beta, self.several, self.stem, self.width, self.sentences
        )

    @property
    def signature(self) -> str:
        """All that can move the number."""
        return self.options.signature

    @property
    def names(self) -> tuple[str, ...]:
        """F first."""
        stem = rouges.score_prefix(self.kind)
        return (f"{stem}.f", f"{stem}.precision", f"{stem}.recall")

    def score(self, sample: Sample, response: Response) -> list[Score]:
        """Score one answer."""
        found = rouges.score_checked(response.text, sample.references, self.options)
        values = (found.f, found.precision, found.recall)
        return [
            Score(name=name, value=value, signature=self.signature, scale=RATIO)
            for name, value in zip(self.names, values, strict=True)
        ]


@dataclass(frozen=True)
class _Corpus(ScorerBase):
    """One value of all answers of a checkpoint to a task, with its interval in the details."""

    level: float = 0.95
    resamples: int = RESAMPLES
    seed: int = 0
    scope: Literal["checkpoint"] = "checkpoint"

    def __post_init__(self) -> None:
        _check_sampling(self)
        super().__post_init__()

    def value_of(
        self, texts: list[str], references: list[tuple[str, ...]], sampling: Sampling
    ) -> CorpusScore:
        """The value, by the options."""
        raise NotImplementedError

    def score_set(self, items: Sequence[tuple[Sample, Response]]) -> list[Score]:
        """Score all answers."""
        texts, references, sampling = _corpus(self, items)
        return [_whole(self, self.value_of(texts, references, sampling), sampling)]


@dataclass(frozen=True)
class CorpusBleu(_Corpus, _BleuFields):
    """BLEU of a corpus; the published formula: without effective order."""

    prefix: ClassVar[str] = "bleu.corpus"
    name: ClassVar[str] = "bleu.corpus"
    effective_order: bool = False

    def value_of(
        self, texts: list[str], references: list[tuple[str, ...]], sampling: Sampling
    ) -> CorpusScore:
        """BLEU from summed counts."""
        return bleu_score(texts, references, self.options, sampling)


@dataclass(frozen=True)
class CorpusChrf(_Corpus, _ChrfFields):
    """chrF of a corpus."""

    prefix: ClassVar[str] = "chrf.corpus"
    name: ClassVar[str] = "chrf.corpus"

    def value_of(
        self, texts: list[str], references: list[tuple[str, ...]], sampling: Sampling
    ) -> CorpusScore:
        """ChrF from summed counts."""
        return chrf_score(texts, references, self.options, sampling)


@dataclass(frozen=True)
class CorpusTer(_Corpus, _TerFields):
    """TER of a corpus; less is better."""

    prefix: ClassVar[str] = "ter.corpus"
    name: ClassVar[str] = "ter.corpus"

    def value_of(
        self, texts: list[str], references: list[tuple[str, ...]], sampling: Sampling
    ) -> CorpusScore:
        """TER from summed edits."""
        return ter_score(texts, references, self.options, sampling)


def _check_sampling(scorer: _Corpus) -> None:
    if scorer.scope != "checkpoint":
        raise ValueError(f"scope must be 'checkpoint', got {scorer.scope!r}")
    if isinstance(scorer.level, bool) or not 0 < scorer.level < 1:
        raise ValueError(f"level must lie in (0, 1), got {scorer.level!r}")
    whole_number("resamples", scorer.resamples)


def _corpus(
    scorer: _Corpus, items: Sequence[tuple[Sample, Response]]
) -> tuple[list[str], list[tuple[str, ...]], Sampling]:
    for sample, _ in items:
        try:
            as_references(sample.references)
        except ValueError as error:
            raise ValueError(f"sample {sample.id!r}: {error}") from None
    texts = [response.text for _, response in items]
    references = as_corpus(texts, [sample.references for sample, _ in items])
    clusters = tuple(sample.cluster for sample, _ in items)
    return (
        texts,
        references,
        Sampling(clusters=clusters, level=scorer.level, resamples=scorer.resamples, seed=scorer.seed),
    )


def _whole(scorer: _Corpus, found: CorpusScore, sampling: Sampling) -> Score:
    details: dict[str, Any] = {
        "ci": list(found.interval) if found.interval else None,
        "level": found.level,
        "n": found.n,
        "clusters": len(set(sampling.clusters)),
        "tokenizer": found.tokenizer,
        "signature": found.signature,
        **found.details,
    }
    made = _score(scorer, found.value, found.scale, details)
    return replace(made, reason=f"{found.n} answers, tokenizer {found.tokenizer}")


def _score(scorer: Any, value: float, scale: Any, details: dict[str, Any]) -> Score:
    return Score(name=scorer.names[0], value=value, signature=scorer.signature, scale=scale, details=details)

"""Scorers of a plan that compare answers with references: each answer alone, or all answers together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from hengwen._internal.plugins import whole_number
from hengwen.objective.checks import SingleScore, check_choice
from hengwen.objective.overlap import bleu as bleus
from hengwen.objective.overlap import chrf as chrfs
from hengwen.objective.overlap import rouge as rouges
from hengwen.objective.overlap import sacre
from hengwen.objective.overlap import ter as ters
from hengwen.objective.overlap.bleu import as_references, usable_corpus
from hengwen.objective.text import choose_bleu_tokenizer
from hengwen.records import Response, Sample, Scale, Score
from hengwen.stats.mean_interval import check_confidence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


RESAMPLES = 1000
MIN_BOOTSTRAP_CLUSTERS = 30
"""Minimum number of clusters (groups of dependent texts) for the bootstrap. With fewer clusters, bootstrap
intervals are too narrow, so Student's t intervals are used instead."""
_MAX_BATCH_COUNTS = 4_000_000
"""Maximum size (bootstrap samples x clusters) of the table of draws that is in memory at a time."""


def corpus_interval(
    statistics: Sequence[Sequence[float]],
    value: Callable[[Sequence[float]], float],
    clusters: Sequence[str],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Return the interval of a value that is computed from statistics summed over texts."""
    import numpy as np

    if len(statistics) != len(clusters):
        raise ValueError(f"{len(statistics)} statistics but {len(clusters)} clusters")
    check_confidence(confidence)
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, got {resamples}")
    index = {name: position for position, name in enumerate(dict.fromkeys(clusters))}
    if len(index) < 2:
        return None
    rows = np.asarray(statistics, dtype=np.float64)
    sums = np.zeros((len(index), rows.shape[1]))
    np.add.at(sums, [index[name] for name in clusters], rows)
    if len(index) < MIN_BOOTSTRAP_CLUSTERS:
        return _jackknife(sums, value, confidence)
    return _bootstrap(sums, value, confidence, resamples, seed)


def _jackknife(
    sums: NDArray[np.float64], value: Callable[[Sequence[float]], float], confidence: float
) -> tuple[float, float]:
    import numpy as np
    from scipy.special import stdtrit

    total, groups = sums.sum(axis=0), len(sums)
    without = np.array([value((total - cluster_sums).tolist()) for cluster_sums in sums])
    error = float(np.sqrt((groups - 1) / groups * np.square(without - without.mean()).sum()))
    middle, half = value(total.tolist()), float(stdtrit(groups - 1, 0.5 + confidence / 2)) * error
    return middle - half, middle + half


def _bootstrap(
    sums: NDArray[np.float64],
    value: Callable[[Sequence[float]], float],
    confidence: float,
    resamples: int,
    seed: int,
) -> tuple[float, float]:
    import numpy as np

    rng, groups = np.random.default_rng(seed), len(sums)
    values: list[float] = []
    while len(values) < resamples:
        size = min(resamples - len(values), max(1, _MAX_BATCH_COUNTS // groups))
        drawn = rng.multinomial(groups, np.full(groups, 1 / groups), size=size)
        values += [value(total) for total in (drawn @ sums).tolist()]
    low, high = np.quantile(values, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return float(low), float(high)


PERCENT_SCALE = Scale(low=0.0, high=100.0)
RATIO_SCALE = Scale(low=0.0, high=1.0)
TER_SCALE = Scale(low=0.0, high=1e6, higher_is_better=False)
"""Scale of TER (translation edit rate), which has no upper bound: a hypothesis may be much longer than its
reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusRows:
    """The statistics and the value of a corpus for one metric."""

    name: str
    """Name of the score, such as ``bleu.corpus``."""
    rows: Sequence[Sequence[float]]
    """Statistics (counts, from which the value is computed) of each text that can be scored."""
    value_of: Callable[[Sequence[float]], float]
    """Function that computes the value from statistics (counts) summed over texts."""
    value: float
    scale: Scale
    tokenizer: str
    signature: str
    details: Mapping[str, Any] = field(default_factory=dict)


def bleu_rows(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], options: bleus.BleuOptions
) -> CorpusRows:
    """Return the BLEU of a validated corpus, with the n-gram counts of each text."""
    tokenizer, rows = bleus.corpus_statistics(hypotheses, references, options)
    total = sacre.sum_statistics(rows)
    bleu = bleus.bleu_from_statistics(total, options, tokenizer, sacre.reference_count(references))
    return CorpusRows(
        name="bleu.corpus",
        rows=rows,
        value_of=_sacrebleu_value("BLEU", options.for_sacrebleu(tokenizer)),
        value=bleu.score,
        scale=PERCENT_SCALE,
        tokenizer=tokenizer,
        signature=bleu.signature,
        details={
            "precisions": list(bleu.precisions),
            "brevity_penalty": bleu.brevity_penalty,
            "hypothesis_length": bleu.hypothesis_length,
            "reference_length": bleu.reference_length,
        },
    )


def chrf_rows(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], options: chrfs.ChrfOptions
) -> CorpusRows:
    """Return the chrF of a validated corpus, with the n-gram counts of each text."""
    rows = chrfs.corpus_statistics(hypotheses, references, options)
    chrf = chrfs.chrf_from_statistics(sacre.sum_statistics(rows), options, sacre.reference_count(references))
    return CorpusRows(
        name="chrf.corpus",
        rows=rows,
        value_of=_sacrebleu_value("CHRF", options.for_sacrebleu),
        value=chrf.score,
        scale=PERCENT_SCALE,
        tokenizer="character n-grams",
        signature=chrf.signature,
    )


def ter_rows(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], options: ters.TerOptions
) -> CorpusRows:
    """Return the TER (translation edit rate) of a validated corpus, with the edits in each text."""
    tokenizer, rows = ters.corpus_statistics(hypotheses, references, options)
    total = sacre.sum_statistics(rows)
    ter = ters.ter_from_statistics(total, options, tokenizer, sacre.reference_count(references))
    return CorpusRows(
        name="ter.corpus",
        rows=rows,
        value_of=_edit_rate,
        value=ter.score,
        scale=TER_SCALE,
        tokenizer=tokenizer,
        signature=ter.signature,
        details={"edits": ter.edits, "reference_length": ter.reference_length},
    )


def _sacrebleu_value(
    family: sacre.Family, options: sacre.MetricOptions
) -> Callable[[Sequence[float]], float]:
    return lambda sums: float(sacre.score(family, options, sums).score)


def _edit_rate(sums: Sequence[float]) -> float:
    """Return the edits per 100 reference tokens."""
    edits, length = sums
    if not length:
        return 100.0 if edits else 0.0
    return float(100 * edits / length)


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

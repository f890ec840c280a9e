"""Values of a whole corpus with intervals and signatures: what ``hengwen score --refs`` prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Any

from hengwen.errors import did_you_mean
from hengwen.objective.overlap import bleu as bleus
from hengwen.objective.overlap import chrf as chrfs
from hengwen.objective.overlap import rouge as rouges
from hengwen.objective.overlap import sacre
from hengwen.objective.overlap import ter as ters
from hengwen.objective.overlap.pairs import as_corpus
from hengwen.objective.overlap.resample import RESAMPLES, corpus_interval
from hengwen.objective.text.tokenize import TOKEN_SPLITS
from hengwen.records import Scale

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PERCENT_SCALE = Scale(low=0.0, high=100.0)
RATIO_SCALE = Scale(low=0.0, high=1.0)
TER_SCALE = Scale(low=0.0, high=1e6, higher_is_better=False)
"""Scale of TER, which has no upper bound: a hypothesis may be much longer than its reference."""
METRICS = ("bleu", "chrf", "ter", "rouge1", "rouge2", "rougeL", "rougeLsum")


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusScore:
    """One value of a corpus."""

    name: str
    """Name of the score, such as ``bleu.corpus``."""
    value: float
    interval: tuple[float, float] | None
    """Confidence interval; None below two clusters."""
    confidence: float
    """Confidence level of the interval."""
    n: int
    """Number of texts behind the value."""
    failures: int = 0
    """Texts without a ROUGE because they have no token; other metrics count them as missing length."""
    tokenizer: str
    """Tokenizer that was used."""
    signature: str
    """Every setting that can change the value."""
    scale: Scale
    """Range and direction of the value."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Parts of the value, JSON-able."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Settings of the interval of a corpus value."""

    clusters: tuple[str, ...]
    """Cluster of each text."""
    confidence: float = 0.95
    resamples: int = RESAMPLES
    seed: int = 0

    def interval(
        self, statistics: Sequence[Sequence[float]], value: Callable[[Sequence[float]], float], scale: Scale
    ) -> tuple[float, float] | None:
        """Return the interval of a function of summed statistics, clipped to the scale."""
        interval = corpus_interval(
            statistics,
            value,
            self.clusters,
            confidence=self.confidence,
            resamples=self.resamples,
            seed=self.seed,
        )
        return _clip(interval, scale)


def corpus_scores(  # noqa: PLR0913 - keyword-only options
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str]],
    *,
    metrics: Sequence[str] = ("bleu", "chrf", "rougeL"),
    tokenize: str = "auto",
    width: str = "keep",
    clusters: Sequence[str] | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[CorpusScore]:
    """Return values of a corpus with intervals and signatures.

    Args:
        hypotheses: The texts, such as the lines of a file.
        references: The references of each text, or its one reference.
        metrics: Names from ``METRICS``. BLEU, chrF and TER come from summed counts, ROUGE is the mean F of
            the texts.
        tokenize: Tokenizer of BLEU, also used by ROUGE and TER where they know it; ``auto`` chooses by the
            references.
        width: ``fold`` compares after NFKC.
        clusters: Cluster of each text; texts of one cluster are not independent. Default: one text each.
        confidence: Confidence level of the intervals, in (0, 1).
        resamples: Number of bootstrap samples, used from 30 clusters on.
        seed: Seed of the bootstrap.

    Returns:
        One :class:`CorpusScore` for each metric, in their order.

    Raises:
        ValueError: The lengths differ, a reference is blank, a metric or an option is unknown, or a value
            is not defined (no token, too short for 4-grams).

    Examples:
        >>> (score,) = corpus_scores(["今晚月色真美", "你好"], ["今晚月色很美", "你好呀"], metrics=["bleu"])
        >>> score.name, round(score.value, 2), score.n, score.tokenizer
        ('bleu.corpus', 49.28, 2, 'zh')
        >>> score.signature.partition("|version")[0]
        'bleu|width:keep|nrefs:1|case:mixed|eff:no|tok:zh|smooth:exp'
    """
    for name in metrics:
        if name not in METRICS:
            raise ValueError(f"unknown metric {name!r}{did_you_mean(name, METRICS)}")
    reference_sets = as_corpus(hypotheses, references)
    names = tuple(clusters) if clusters is not None else tuple(map(str, range(len(hypotheses))))
    sampling = Sampling(clusters=names, confidence=confidence, resamples=resamples, seed=seed)
    return [_score_metric(name, hypotheses, reference_sets, tokenize, width, sampling) for name in metrics]


def _score_metric(
    name: str,
    hypotheses: Sequence[str],
    references: list[tuple[str, ...]],
    tokenize: Any,
    width: Any,
    sampling: Sampling,
) -> CorpusScore:
    """Return the value of one metric; its options class validates ``tokenize`` and ``width``."""
    if name == "bleu":
        options = bleus.BleuOptions(tokenize, effective_order=False, width=width)
        return bleu_score(hypotheses, references, options, sampling)
    if name == "chrf":
        return chrf_score(hypotheses, references, chrfs.ChrfOptions(width=width), sampling)
    if name == "ter":
        ter_options = ters.TerOptions("char" if tokenize == "char" else "auto", width=width)
        return ter_score(hypotheses, references, ter_options, sampling)
    if tokenize not in TOKEN_SPLITS:
        tokenize = "auto"
    return rouge_score(hypotheses, references, rouges.RougeOptions(name, tokenize, width=width), sampling)


def bleu_score(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    options: bleus.BleuOptions,
    sampling: Sampling,
) -> CorpusScore:
    """Return the corpus BLEU of a validated corpus."""
    tokenizer, rows = bleus.corpus_statistics(hypotheses, references, options)
    total = sacre.sum_statistics(rows)
    bleu = bleus.bleu_from_statistics(total, options, tokenizer, sacre.reference_count(references))
    return CorpusScore(
        name="bleu.corpus",
        value=bleu.score,
        interval=_sacrebleu_interval("BLEU", options.for_sacrebleu(tokenizer), rows, sampling),
        confidence=sampling.confidence,
        n=len(hypotheses),
        tokenizer=tokenizer,
        signature=bleu.signature,
        scale=PERCENT_SCALE,
        details={
            "precisions": list(bleu.precisions),
            "brevity_penalty": bleu.brevity_penalty,
            "hypothesis_length": bleu.hypothesis_length,
            "reference_length": bleu.reference_length,
        },
    )


def chrf_score(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    options: chrfs.ChrfOptions,
    sampling: Sampling,
) -> CorpusScore:
    """Return the corpus chrF of a validated corpus."""
    rows = chrfs.corpus_statistics(hypotheses, references, options)
    chrf = chrfs.chrf_from_statistics(sacre.sum_statistics(rows), options, sacre.reference_count(references))
    return CorpusScore(
        name="chrf.corpus",
        value=chrf.score,
        interval=_sacrebleu_interval("CHRF", options.for_sacrebleu, rows, sampling),
        confidence=sampling.confidence,
        n=len(hypotheses),
        tokenizer="character n-grams",
        signature=chrf.signature,
        scale=PERCENT_SCALE,
    )


def ter_score(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    options: ters.TerOptions,
    sampling: Sampling,
) -> CorpusScore:
    """Return the corpus TER of a validated corpus."""
    tokenizer, rows = ters.corpus_statistics(hypotheses, references, options)
    total = sacre.sum_statistics(rows)
    ter = ters.ter_from_statistics(total, options, tokenizer, sacre.reference_count(references))
    return CorpusScore(
        name="ter.corpus",
        value=ter.score,
        interval=sampling.interval(rows, lambda sums: 100 * sums[0] / sums[1], TER_SCALE),
        confidence=sampling.confidence,
        n=len(hypotheses),
        tokenizer=tokenizer,
        signature=ter.signature,
        scale=TER_SCALE,
        details={"edits": ter.edits, "reference_length": ter.reference_length},
    )


def rouge_score(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    options: rouges.RougeOptions,
    sampling: Sampling,
) -> CorpusScore:
    """Return the mean ROUGE F of the texts that have one.

    Raises:
        ValueError: No text has a ROUGE; the message has the first reason.
    """
    from hengwen.stats.mean_interval import mean_interval

    scores: list[rouges.Rouge] = []
    clusters, reason = [], ""
    rows = zip(hypotheses, references, sampling.clusters, strict=True)
    for number, (hypothesis, texts, cluster) in enumerate(rows, 1):
        try:
            scores.append(rouges.score_text(hypothesis, texts, options))
        except ValueError as error:
            reason = reason or f"text {number}: {error}"
        else:
            clusters.append(cluster)
    if not scores:
        raise ValueError(f"no text has a ROUGE: {reason}")
    mean = rouges.Rouge(*(fsum(column) / len(scores) for column in zip(*scores, strict=True)))
    f_values = [score.f for score in scores]
    interval = mean_interval(f_values, clusters, scale=(0, 1), confidence=sampling.confidence).bounds
    return CorpusScore(
        name=f"{rouges.score_prefix(options.kind)}.mean",
        value=mean.f,
        interval=_clip(interval, RATIO_SCALE),
        confidence=sampling.confidence,
        n=len(scores),
        failures=len(hypotheses) - len(scores),
        tokenizer=options.split,
        signature=options.signature,
        scale=RATIO_SCALE,
        details={"precision": mean.precision, "recall": mean.recall, "first_failure": reason},
    )


def _sacrebleu_interval(
    family: sacre.Family,
    options: sacre.MetricOptions,
    rows: Sequence[Sequence[float]],
    sampling: Sampling,
) -> tuple[float, float] | None:
    return sampling.interval(rows, lambda sums: sacre.score(family, options, sums).score, PERCENT_SCALE)


def _clip(interval: tuple[float, float] | None, scale: Scale) -> tuple[float, float] | None:
    return interval and (max(interval[0], scale.low), min(interval[1], scale.high))

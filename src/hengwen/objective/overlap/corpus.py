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

PERCENT = Scale(low=0.0, high=100.0)
RATIO = Scale(low=0.0, high=1.0)
EDITS = Scale(low=0.0, high=1e6, higher_is_better=False)
"""Of TER, which has no upper end: a hypothesis may be much longer than its reference."""
METRICS = ("bleu", "chrf", "ter", "rouge1", "rouge2", "rougeL", "rougeLsum")


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusScore:
    """One value of a corpus."""

    name: str
    value: float
    interval: tuple[float, float] | None
    """None below two clusters."""
    level: float
    n: int
    """Texts that the value is of."""
    failures: int = 0
    """Texts without a ROUGE, as they have no token; other metrics count them as missing length."""
    tokenizer: str
    signature: str
    scale: Scale
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How the interval is found."""

    clusters: tuple[str, ...]
    level: float = 0.95
    resamples: int = RESAMPLES
    seed: int = 0

    def interval(
        self, statistics: Sequence[Sequence[float]], value: Callable[[Sequence[float]], float], scale: Scale
    ) -> tuple[float, float] | None:
        """Return the interval of a value of summed statistics, within the scale."""
        found = corpus_interval(
            statistics, value, self.clusters, level=self.level, resamples=self.resamples, seed=self.seed
        )
        return found and (max(found[0], scale.low), min(found[1], scale.high))


def corpus_scores(
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str]],
    *,
    metrics: Sequence[str] = ("bleu", "chrf", "rougeL"),
    tokenize: str = "auto",
    width: str = "keep",
    clusters: Sequence[str] | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[CorpusScore]:
    """Return values of a corpus with intervals and signatures.

    Args:
        hypotheses: The texts, such as the lines of a file.
        references: For each text its references, or its one reference.
        metrics: Of ``METRICS``; BLEU, chrF and TER from summed counts, ROUGE as the mean F of the texts.
        tokenize: Of BLEU, also given to ROUGE and TER where they know it; ``auto`` goes by the references.
        width: ``fold`` compares after NFKC.
        clusters: Texts of one cluster are not independent; default: each is its own.
        level: Of the intervals, in (0, 1).
        resamples: Of the bootstrap, from 30 clusters on.
        seed: Of the bootstrap.

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
    checked = as_corpus(hypotheses, references)
    names = tuple(clusters) if clusters is not None else tuple(map(str, range(len(hypotheses))))
    sampling = Sampling(clusters=names, level=level, resamples=resamples, seed=seed)
    return [_one(name, hypotheses, checked, tokenize, width, sampling) for name in metrics]


def _one(
    name: str,
    hypotheses: Sequence[str],
    references: list[tuple[str, ...]],
    tokenize: str,
    width: str,
    sampling: Sampling,
) -> CorpusScore:
    if name == "bleu":
        options = bleus.check_options(tokenize, effective_order=False, width=width)
        return bleu_score(hypotheses, references, options, sampling)
    if name == "chrf":
        return chrf_score(hypotheses, references, chrfs.ChrfOptions(width=width), sampling)  # type: ignore[arg-type]
    if name == "ter":
        own = tokenize if tokenize == "char" else "auto"
        return ter_score(hypotheses, references, ters.TerOptions(own, width=width), sampling)  # type: ignore[arg-type]
    own = tokenize if tokenize in TOKEN_SPLITS else "auto"
    return rouge_score(hypotheses, references, rouges.check_options(name, own, width=width), sampling)


def bleu_score(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    options: bleus.BleuOptions,
    sampling: Sampling,
) -> CorpusScore:
    """Return corpus BLEU for a corpus that is checked."""
    tokenizer, stats = bleus.corpus_statistics(hypotheses, references, options)
    found = bleus.bleu_of(_total(stats), options, tokenizer, sacre.reference_count(references))
    theirs = options.for_sacrebleu(tokenizer)
    return CorpusScore(
        name="bleu.corpus",
        value=found.score,
        interval=sampling.interval(stats, lambda sums: sacre.score("BLEU", theirs, sums).score, PERCENT),
        level=sampling.level,
        n=len(hypotheses),
        tokenizer=tokenizer,
        signature=found.signature,
        scale=PERCENT,
        details={
            "precisions": list(found.precisions),
            "brevity_penalty": found.brevity_penalty,
            "hypothesis_length": found.hypothesis_length,
            "reference_length": found.reference_length,
        },
    )


def chrf_score(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    options: chrfs.ChrfOptions,
    sampling: Sampling,
) -> CorpusScore:
    """Return corpus chrF for a corpus that is checked."""
    stats = chrfs.corpus_statistics(hypotheses, references, options)
    found = chrfs.chrf_of(_total(stats), options, sacre.reference_count(references))
    theirs = options.for_sacrebleu
    return CorpusScore(
        name="chrf.corpus",
        value=found.score,
        interval=sampling.interval(stats, lambda sums: sacre.score("CHRF", theirs, sums).score, PERCENT),
        level=sampling.level,
        n=len(hypotheses),
        tokenizer="character n-grams",
        signature=found.signature,
        scale=PERCENT,
    )


def ter_score(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    options: ters.TerOptions,
    sampling: Sampling,
) -> CorpusScore:
    """Return corpus TER for a corpus that is checked."""
    tokenizer, stats = ters.corpus_statistics(hypotheses, references, options)
    found = ters.ter_of(_total(stats), options, tokenizer, sacre.reference_count(references))
    return CorpusScore(
        name="ter.corpus",
        value=found.score,
        interval=sampling.interval(stats, lambda sums: 100 * sums[0] / sums[1], EDITS),
        level=sampling.level,
        n=len(hypotheses),
        tokenizer=tokenizer,
        signature=found.signature,
        scale=EDITS,
        details={"edits": found.edits, "reference_length": found.reference_length},
    )


def rouge_score(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    options: rouges.RougeOptions,
    sampling: Sampling,
) -> CorpusScore:
    """Return the mean ROUGE F of the texts that have one.

    Raises:
        ValueError: None has; the first reason is given.
    """
    from hengwen.stats.intervals import cluster_interval

    found: list[rouges.Rouge] = []
    clusters, reason = [], ""
    for place, (text, own) in enumerate(zip(hypotheses, references, strict=True)):
        try:
            found.append(rouges.score_checked(text, own, options))
        except ValueError as error:
            reason = reason or f"text {place + 1}: {error}"
        else:
            clusters.append(sampling.clusters[place])
    if not found:
        raise ValueError(f"no text has a ROUGE: {reason}")
    mean = rouges.Rouge(*(fsum(column) / len(found) for column in zip(*found, strict=True)))
    interval = cluster_interval([one.f for one in found], clusters, level=sampling.level, seed=sampling.seed)
    return CorpusScore(
        name=f"{rouges.score_prefix(options.kind)}.mean",
        value=mean.f,
        interval=interval and (max(interval[0], 0.0), min(interval[1], 1.0)),
        level=sampling.level,
        n=len(found),
        failures=len(hypotheses) - len(found),
        tokenizer=options.split,
        signature=options.signature,
        scale=RATIO,
        details={"precision": mean.precision, "recall": mean.recall, "first_failure": reason},
    )


def _total(stats: Sequence[Sequence[float]]) -> list[float]:
    return [sum(column) for column in zip(*stats, strict=True)]

"""Compute a corpus value from statistics (counts) of each text: BLEU, chrF, TER and mean ROUGE."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from math import fsum
from typing import TYPE_CHECKING, Any

from hengwen.errors import did_you_mean
from hengwen.objective.overlap import bleu as bleus
from hengwen.objective.overlap import chrf as chrfs
from hengwen.objective.overlap import rouge as rouges
from hengwen.objective.overlap import sacre
from hengwen.objective.overlap import ter as ters
from hengwen.objective.overlap.bleu import BleuOptions
from hengwen.objective.overlap.chrf import ChrfOptions
from hengwen.objective.overlap.pairs import usable_corpus
from hengwen.objective.overlap.rouge import RougeOptions
from hengwen.objective.overlap.ter import TER_TOKENIZERS, TerOptions
from hengwen.objective.text import BLEU_TOKENIZERS, TOKEN_SPLITS
from hengwen.records import Scale

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hengwen.objective.overlap.pairs import References


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
    kept: Sequence[int]
    """For each row of statistics, the index of its text in the corpus."""
    value_of: Callable[[Sequence[float]], float]
    """Function that computes the value from statistics (counts) summed over texts."""
    value: float
    scale: Scale
    tokenizer: str
    signature: str
    details: Mapping[str, Any] = field(default_factory=dict)
    is_mean: bool = False
    """Whether the value is the mean over texts; otherwise it is computed from summed counts."""
    failures: int = 0
    """Number of texts without a value."""
    first_failure: str = ""
    """Reason why the first text without a value has no value; empty if all texts have a value."""


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
        kept=range(len(rows)),
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
        kept=range(len(rows)),
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
        kept=range(len(rows)),
        value_of=_edit_rate,
        value=ter.score,
        scale=TER_SCALE,
        tokenizer=tokenizer,
        signature=ter.signature,
        details={"edits": ter.edits, "reference_length": ter.reference_length},
    )


def rouge_rows(
    hypotheses: Sequence[str], references: Sequence[References], options: rouges.RougeOptions
) -> CorpusRows:
    """Return the mean ROUGE F and the F of each text; references may be missing."""
    scores: dict[int, rouges.Rouge] = {}
    reason = ""
    for index, (hypothesis, texts) in enumerate(zip(hypotheses, references, strict=True)):
        try:
            scores[index] = rouges.score_text(hypothesis, texts, options)
        except ValueError as error:
            reason = reason or f"text {index + 1}: {error}"
    if not scores:
        raise ValueError(f"no text has a ROUGE: {reason}")
    mean = rouges.Rouge(*(fsum(column) / len(scores) for column in zip(*scores.values(), strict=True)))
    return CorpusRows(
        name=f"{rouges.score_prefix(options.kind)}.mean",
        rows=[(score.f, 1.0) for score in scores.values()],
        kept=list(scores),
        value_of=_mean_of_sums,
        value=mean.f,
        scale=RATIO_SCALE,
        tokenizer=options.split,
        signature=options.signature,
        details={"precision": mean.precision, "recall": mean.recall, "first_failure": reason},
        is_mean=True,
        failures=len(hypotheses) - len(scores),
        first_failure=reason,
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


def _mean_of_sums(sums: Sequence[float]) -> float:
    return float(sums[0] / sums[1])


MetricOptions = BleuOptions | ChrfOptions | TerOptions | RougeOptions
METRICS = ("bleu", "chrf", "ter", "rouge1", "rouge2", "rougeL", "rougeLsum")
_CLASSES: dict[str, type[MetricOptions]] = {"bleu": BleuOptions, "chrf": ChrfOptions, "ter": TerOptions}
_TOKENIZERS: dict[type[MetricOptions], tuple[str, ...]] = {
    BleuOptions: BLEU_TOKENIZERS,
    TerOptions: TER_TOKENIZERS,
    RougeOptions: TOKEN_SPLITS,
}


def options_by_metric(metrics: Sequence[str], settings: Mapping[str, Any]) -> dict[str, MetricOptions]:
    """Return the options of each metric."""
    for name in metrics:
        if name not in METRICS:
            raise ValueError(f"unknown metric {name!r}{did_you_mean(name, METRICS)}")
    chosen: dict[str, dict[str, Any]] = {name: {} for name in metrics}
    for key, value in sorted(settings.items(), key=lambda item: "." in item[0]):
        for name, option in _targets(key, value, metrics):
            chosen[name][option] = value
    return {name: _build(name, values) for name, values in chosen.items()}


def metrics_without_tokenizer(metrics: Sequence[str], tokenizer: object) -> list[str]:
    """Return the metrics that have an option ``tokenize`` but no tokenizer of this name."""
    return [
        name
        for name in metrics
        if (known := _TOKENIZERS.get(_class(name))) and tokenizer not in (*known, "auto")
    ]


def build_rows(
    hypotheses: Sequence[str], references: Sequence[References], options: MetricOptions
) -> CorpusRows:
    """Return the value and the statistics of a corpus, for the texts that have a reference."""
    corpus = usable_corpus(hypotheses, references)
    if isinstance(options, RougeOptions):  # ROUGE also leaves out texts without a token
        return rouge_rows(hypotheses, references, options)
    if isinstance(options, BleuOptions):
        rows = bleu_rows(corpus.hypotheses, corpus.references, options)
    elif isinstance(options, ChrfOptions):
        rows = chrf_rows(corpus.hypotheses, corpus.references, options)
    else:
        rows = ter_rows(corpus.hypotheses, corpus.references, options)
    return replace(rows, kept=corpus.kept, failures=corpus.failures, first_failure=corpus.first_failure)


def _targets(key: str, value: object, metrics: Sequence[str]) -> list[tuple[str, str]]:
    """Return the (metric, option) pairs to which a setting applies."""
    prefix, dot, option = key.rpartition(".")
    if dot and prefix not in metrics:
        raise ValueError(f"option {key!r}: {prefix!r} is not among the metrics {', '.join(metrics)}")
    candidates = [prefix] if dot else list(metrics)
    targets = [(name, option) for name in candidates if option in _names(name)]
    if not targets:
        names = {known for name in candidates for known in _names(name)}
        raise ValueError(f"unknown option {option!r} of {', '.join(candidates)}{did_you_mean(option, names)}")
    if option == "tokenize" and not dot:
        known_names = {known for names in _TOKENIZERS.values() for known in names}
        if value in known_names:
            lacking = metrics_without_tokenizer(metrics, value)
            targets = [target for target in targets if target[0] not in lacking]
    return targets


def _class(metric: str) -> type[MetricOptions]:
    return _CLASSES.get(metric, RougeOptions)


def _names(metric: str) -> list[str]:
    return [field.name for field in fields(_class(metric)) if field.init and field.name != "kind"]


def _build(metric: str, values: Mapping[str, Any]) -> MetricOptions:
    if metric == "bleu":
        return BleuOptions(**{"effective_order": False, **values})
    if _class(metric) is RougeOptions:
        return RougeOptions(metric, **values)
    return _class(metric)(**values)

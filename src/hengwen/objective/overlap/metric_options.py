"""Assign options to corpus metrics: an option applies to every metric that has it, or to one named metric."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from hengwen.errors import did_you_mean
from hengwen.objective.overlap.bleu import BleuOptions
from hengwen.objective.overlap.chrf import ChrfOptions
from hengwen.objective.overlap.corpus_rows import bleu_rows, chrf_rows, rouge_rows, ter_rows
from hengwen.objective.overlap.pairs import usable_corpus
from hengwen.objective.overlap.rouge import RougeOptions
from hengwen.objective.overlap.ter import TER_TOKENIZERS, TerOptions
from hengwen.objective.text import BLEU_TOKENIZERS, TOKEN_SPLITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.objective.overlap.corpus_rows import CorpusRows
    from hengwen.objective.overlap.pairs import References

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

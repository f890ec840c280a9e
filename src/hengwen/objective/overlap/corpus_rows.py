"""Compute a corpus value from statistics (counts) of each text: BLEU, chrF, TER and mean ROUGE."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hengwen.objective.overlap import bleu as bleus
from hengwen.objective.overlap import chrf as chrfs
from hengwen.objective.overlap import sacre
from hengwen.objective.overlap import ter as ters
from hengwen.records import Scale

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


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

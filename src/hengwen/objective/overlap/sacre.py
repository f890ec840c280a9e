"""The one place that knows sacrebleu: statistics of each text, their sum, its score.

sacrebleu's own significance tests take the same two steps; ``tests/objective/test_overlap.py`` holds both
against its public functions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Family = Literal["BLEU", "CHRF", "TER"]
Options = tuple[tuple[str, Any], ...]
"""Keyword arguments of the family's class, hashable."""


@lru_cache(maxsize=32)
def metric(family: Family, options: Options) -> Any:
    """Return a metric of sacrebleu; the same for the same options, as its caches are worth keeping."""
    from sacrebleu.metrics import bleu, chrf, ter

    factory = {"BLEU": bleu.BLEU, "CHRF": chrf.CHRF, "TER": ter.TER}[family]
    return factory(**dict(options))


def statistics(
    family: Family, options: Options, hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> list[list[float]]:
    """Return the sufficient statistics of each text; a corpus has their sum.

    Args:
        family: Of the metric.
        options: Of the metric.
        hypotheses: n texts.
        references: For each its references, one or more.
    """
    most = max(map(len, references))
    streams = [[own[i] if i < len(own) else None for own in references] for i in range(most)]
    found: list[list[float]] = metric(family, options)._extract_corpus_statistics(hypotheses, streams)
    return found


def score(family: Family, options: Options, total: Sequence[float]) -> Any:
    """Return sacrebleu's score object for summed statistics."""
    return metric(family, options)._compute_score_from_stats(list(total))


@lru_cache(maxsize=128)
def signature(family: Family, options: Options, references: int) -> str:
    """Return sacrebleu's signature; ``references`` is their number a text, or -1 where it varies.

    Examples:
        >>> signature("BLEU", (("tokenize", "zh"),), 1).rpartition("|")[0]
        'nrefs:1|case:mixed|eff:no|tok:zh|smooth:exp'
    """
    fresh = metric.__wrapped__(family, options)
    fresh.num_refs = references
    return str(fresh.get_signature())


@lru_cache(maxsize=1)
def version() -> str:
    """Return the version of sacrebleu, without importing it."""
    from importlib.metadata import version as installed

    return installed("sacrebleu")


def reference_count(references: Sequence[Sequence[str]]) -> int:
    """Return how many references each text has, -1 where that varies.

    Examples:
        >>> reference_count([["a"], ["b"]]), reference_count([["a"], ["b", "c"]])
        (1, -1)
    """
    counts = {len(own) for own in references}
    return counts.pop() if len(counts) == 1 else -1

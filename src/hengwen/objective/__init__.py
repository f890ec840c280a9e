"""Deterministic scorers of text; they use no model and no network.

A submodule is imported when one of its names is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.objective.diversity.metrics import (
        compression_ratio,
        distinct_n,
        ngram_entropy,
        repetition_rate,
        type_token_ratio,
    )
    from hengwen.objective.diversity.self_bleu import self_bleu
    from hengwen.objective.duplicates.similarity import near_duplicates
    from hengwen.objective.duplicates.training_set import TrainingSet
    from hengwen.objective.lyrics.rules import LyricRules
    from hengwen.objective.lyrics.score_lyric import LyricScore, score_lyric, score_lyrics
    from hengwen.objective.lyrics.template import check_template, to_msstr
    from hengwen.objective.overlap.bleu import Bleu, bleu, corpus_bleu
    from hengwen.objective.overlap.chrf import chrf, corpus_chrf
    from hengwen.objective.overlap.corpus import CorpusScore, corpus_scores
    from hengwen.objective.overlap.paired_tests import SystemComparison, compare_systems
    from hengwen.objective.overlap.rouge import Rouge, rouge
    from hengwen.objective.overlap.ter import corpus_ter, ter
    from hengwen.objective.rhyme.class_of_line import RHYME_CLASSES, rhyme_class

_EXPORTS = {
    "Bleu": "overlap.bleu",
    "CorpusScore": "overlap.corpus",
    "LyricRules": "lyrics.rules",
    "LyricScore": "lyrics.score_lyric",
    "RHYME_CLASSES": "rhyme.class_of_line",
    "Rouge": "overlap.rouge",
    "SystemComparison": "overlap.paired_tests",
    "TrainingSet": "duplicates.training_set",
    "bleu": "overlap.bleu",
    "check_template": "lyrics.template",
    "chrf": "overlap.chrf",
    "compare_systems": "overlap.paired_tests",
    "compression_ratio": "diversity.metrics",
    "corpus_bleu": "overlap.bleu",
    "corpus_chrf": "overlap.chrf",
    "corpus_scores": "overlap.corpus",
    "corpus_ter": "overlap.ter",
    "distinct_n": "diversity.metrics",
    "near_duplicates": "duplicates.similarity",
    "ngram_entropy": "diversity.metrics",
    "repetition_rate": "diversity.metrics",
    "rhyme_class": "rhyme.class_of_line",
    "rouge": "overlap.rouge",
    "score_lyric": "lyrics.score_lyric",
    "score_lyrics": "lyrics.score_lyric",
    "self_bleu": "diversity.self_bleu",
    "ter": "overlap.ter",
    "to_msstr": "lyrics.template",
    "type_token_ratio": "diversity.metrics",
}

__all__ = [
    "RHYME_CLASSES",
    "Bleu",
    "CorpusScore",
    "LyricRules",
    "LyricScore",
    "Rouge",
    "SystemComparison",
    "TrainingSet",
    "bleu",
    "check_template",
    "chrf",
    "compare_systems",
    "compression_ratio",
    "corpus_bleu",
    "corpus_chrf",
    "corpus_scores",
    "corpus_ter",
    "distinct_n",
    "near_duplicates",
    "ngram_entropy",
    "repetition_rate",
    "rhyme_class",
    "rouge",
    "score_lyric",
    "score_lyrics",
    "self_bleu",
    "ter",
    "to_msstr",
    "type_token_ratio",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)

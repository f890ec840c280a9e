"""Pure scorers of text: nothing here asks a network or writes a file. Names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.lazy import lazy_exports

if TYPE_CHECKING:
    from hengwen.objective.diversity import (
        compression_ratio,
        distinct_n,
        ngram_entropy,
        repetition_rate,
        type_token_ratio,
    )
    from hengwen.objective.diversity_bleu import self_bleu
    from hengwen.objective.leakage import TrainingSet
    from hengwen.objective.lyric_bulk import score_lyrics
    from hengwen.objective.lyric_rules import LyricRules
    from hengwen.objective.lyric_score import LyricScore
    from hengwen.objective.lyrics import score_lyric
    from hengwen.objective.msstr import check_template, to_msstr
    from hengwen.objective.overlap.bleu import Bleu, bleu, corpus_bleu
    from hengwen.objective.overlap.chrf import chrf, corpus_chrf
    from hengwen.objective.overlap.corpus import CorpusScore, corpus_scores
    from hengwen.objective.overlap.rouge import Rouge, rouge
    from hengwen.objective.overlap.ter import corpus_ter, ter
    from hengwen.objective.rhyme import rhyme_class
    from hengwen.objective.rhyme_classes import RHYME_CLASSES
    from hengwen.objective.similarity import near_duplicates

_HOMES = {
    "Bleu": "overlap.bleu",
    "CorpusScore": "overlap.corpus",
    "LyricRules": "lyric_rules",
    "LyricScore": "lyric_score",
    "RHYME_CLASSES": "rhyme_classes",
    "Rouge": "overlap.rouge",
    "TrainingSet": "leakage",
    "bleu": "overlap.bleu",
    "check_template": "msstr",
    "chrf": "overlap.chrf",
    "compression_ratio": "diversity",
    "corpus_bleu": "overlap.bleu",
    "corpus_chrf": "overlap.chrf",
    "corpus_scores": "overlap.corpus",
    "corpus_ter": "overlap.ter",
    "distinct_n": "diversity",
    "near_duplicates": "similarity",
    "ngram_entropy": "diversity",
    "repetition_rate": "diversity",
    "rhyme_class": "rhyme",
    "rouge": "overlap.rouge",
    "score_lyric": "lyrics",
    "score_lyrics": "lyric_bulk",
    "self_bleu": "diversity_bleu",
    "ter": "overlap.ter",
    "to_msstr": "msstr",
    "type_token_ratio": "diversity",
}

__all__ = [
    "RHYME_CLASSES",
    "Bleu",
    "CorpusScore",
    "LyricRules",
    "LyricScore",
    "Rouge",
    "TrainingSet",
    "bleu",
    "check_template",
    "chrf",
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
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)

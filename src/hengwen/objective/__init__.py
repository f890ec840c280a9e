"""Deterministic scorers of text; they use no model and no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.objective.diversity.metrics import (
        compression_ratio as compression_ratio,
        distinct_n as distinct_n,
        ngram_entropy as ngram_entropy,
        repetition_rate as repetition_rate,
        type_token_ratio as type_token_ratio,
    )
    from hengwen.objective.diversity.scorers import self_bleu as self_bleu
    from hengwen.objective.duplicates.similarity import near_duplicates as near_duplicates
    from hengwen.objective.duplicates.training_set import TrainingSet as TrainingSet
    from hengwen.objective.lyrics.rules import LyricRules as LyricRules
    from hengwen.objective.lyrics.score_lyric import (
        LyricScore as LyricScore,
        score_lyric as score_lyric,
        score_lyrics as score_lyrics,
    )
    from hengwen.objective.lyrics.template import check_template as check_template, to_msstr as to_msstr
    from hengwen.objective.overlap.bleu import Bleu as Bleu, bleu as bleu, corpus_bleu as corpus_bleu
    from hengwen.objective.overlap.chrf import chrf as chrf, corpus_chrf as corpus_chrf
    from hengwen.objective.overlap.rouge import Rouge as Rouge, rouge as rouge
    from hengwen.objective.overlap.ter import corpus_ter as corpus_ter, ter as ter
    from hengwen.objective.rhyme import (
        RHYME_CLASSES as RHYME_CLASSES,
        rhyme_class as rhyme_class,
    )

_EXPORTS = {
    "diversity.metrics": "compression_ratio distinct_n ngram_entropy repetition_rate type_token_ratio",
    "diversity.scorers": "self_bleu",
    "duplicates.similarity": "near_duplicates",
    "duplicates.training_set": "TrainingSet",
    "lyrics.rules": "LyricRules",
    "lyrics.score_lyric": "LyricScore score_lyric score_lyrics",
    "lyrics.template": "check_template to_msstr",
    "overlap.bleu": "Bleu bleu corpus_bleu",
    "overlap.chrf": "chrf corpus_chrf",
    "overlap.rouge": "Rouge rouge",
    "overlap.ter": "corpus_ter ter",
    "rhyme": "RHYME_CLASSES rhyme_class",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)

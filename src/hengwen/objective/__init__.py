"""Pure scorers of text: nothing here asks a network or writes a file. Names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.lazy import lazy_exports

if TYPE_CHECKING:
    from hengwen.objective.diversity import distinct_n
    from hengwen.objective.lyric_bulk import score_lyrics
    from hengwen.objective.lyric_rules import LyricRules
    from hengwen.objective.lyric_score import LyricScore
    from hengwen.objective.lyrics import score_lyric
    from hengwen.objective.msstr import check_template, to_msstr
    from hengwen.objective.rhyme import rhyme_class
    from hengwen.objective.rhyme_classes import RHYME_CLASSES
    from hengwen.objective.similarity import near_duplicates

_HOMES = {
    "LyricRules": "lyric_rules",
    "LyricScore": "lyric_score",
    "RHYME_CLASSES": "rhyme_classes",
    "check_template": "msstr",
    "distinct_n": "diversity",
    "near_duplicates": "similarity",
    "rhyme_class": "rhyme",
    "score_lyric": "lyrics",
    "score_lyrics": "lyric_bulk",
    "to_msstr": "msstr",
}

__all__ = [
    "RHYME_CLASSES",
    "LyricRules",
    "LyricScore",
    "check_template",
    "distinct_n",
    "near_duplicates",
    "rhyme_class",
    "score_lyric",
    "score_lyrics",
    "to_msstr",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)

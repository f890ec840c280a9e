"""Each test computes what it checks: no result comes from a cache that an earlier test filled."""

from __future__ import annotations

import pytest

from hengwen.objective import checks, rhyme
from hengwen.objective.lyrics import parse_document, parse_muchin, repair, score_lyric
from hengwen.objective.overlap import bleu, rouge, sacre

CACHES = (
    checks.build_signature,
    repair.read_tag,
    score_lyric._parse_short_template,
    parse_document._parse_short_line,
    parse_muchin._parse_short_line,
    rhyme._class_of_short_run,
    bleu.cached_options,
    bleu._splitter,
    bleu._for_sacrebleu,
    rouge.cached_options,
    rouge._stemmed,
    sacre.metric,
    sacre.signature,
)
"""All caches except those of tables, which take long to fill and depend on no argument."""


@pytest.fixture(autouse=True)
def empty_caches() -> None:
    for cached in CACHES:
        cached.cache_clear()

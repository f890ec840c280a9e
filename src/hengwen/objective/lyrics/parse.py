"""Parse a lyric and its template under a rule set."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from hengwen.objective.lyrics import parse_document, parse_muchin

if TYPE_CHECKING:
    from hengwen.objective.lyrics.options import LyricOptions
    from hengwen.objective.lyrics.parsed import ParsedLyric


def parse_pair(lyric: str, template: str, options: LyricOptions) -> tuple[ParsedLyric, ParsedLyric]:
    """Return the template and the lyric as the rules read them."""
    cached = len(template) <= _LONGEST_CACHED
    if options.rules.reading == "muchin":
        read = _muchin_template if cached else parse_muchin.read_template
        return read(template), parse_muchin.read_lyric(lyric)
    read = _document_template if cached else parse_document.read_template
    wanted = read(template)
    if not wanted.sections:
        raise ValueError("the template is empty, it needs lines of c and R under tags like (verse)")
    return wanted, parse_document.read_lyric(lyric)


_LONGEST_CACHED = 10_000


_muchin_template = lru_cache(maxsize=256)(parse_muchin.read_template)


_document_template = lru_cache(maxsize=256)(parse_document.read_template)

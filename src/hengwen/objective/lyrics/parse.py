"""Parse a lyric and its template under a rule set."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from hengwen.objective.lyrics import parse_document, parse_muchin
from hengwen.objective.lyrics.parsed import ParsedPair

if TYPE_CHECKING:
    from hengwen.objective.lyrics.parsed import ParsedLyric
    from hengwen.objective.lyrics.rules import RuleSetName

_TEMPLATE_PARSERS = {"document": parse_document.parse_template, "muchin": parse_muchin.parse_template}
_LYRIC_PARSERS = {"document": parse_document.parse_lyric, "muchin": parse_muchin.parse_lyric}
_MAX_CACHED_CHARACTERS = 10_000
"""Templates with more characters than this are parsed at every call, so that the cache of templates stays
small."""


def parse_pair(lyric: str, template: str, reading: RuleSetName) -> ParsedPair:
    """Parse a template and a lyric as the rule set ``reading`` defines."""
    parse_template = _parse_short_template if len(template) <= _MAX_CACHED_CHARACTERS else _parse_template
    parsed_template = parse_template(template, reading)
    if reading == "document" and not parsed_template.sections:
        raise ValueError("the template is empty, it needs lines of c and R under tags like (verse)")
    return ParsedPair(parsed_template, _LYRIC_PARSERS[reading](lyric))


def _parse_template(template: str, reading: RuleSetName) -> ParsedLyric:
    return _TEMPLATE_PARSERS[reading](template)


_parse_short_template = lru_cache(maxsize=512)(_parse_template)

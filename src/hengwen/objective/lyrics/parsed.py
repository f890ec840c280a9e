"""Parsed templates and lyrics: sections of lines, each line with its text and its counts."""

from __future__ import annotations

from typing import NamedTuple

MAX_CACHED_CHARACTERS = 100
"""Lines with more characters than this are parsed at every call, so that the caches of lines stay small."""


class LyricLine(NamedTuple):
    """One line of a section."""

    text: str
    """The simplified line. A template line is unchanged. In a lyric line, each Han character becomes
    ``c``; the last one becomes ``R`` if the line rhymes with another line of its section. Other characters
    stay. Under the rule set ``document``, however, the letters ``c`` and ``R`` of a lyric become U+FFFD."""
    length: int
    """Number of characters of the line. Under the rule set ``document``, only Han characters count; in a
    template, only ``c`` and ``R`` count. Under ``muchin``, all characters count except whitespace at the ends
    of the line."""
    effective: int
    """Number of characters that can match characters of the template line in phase 3 (comparison of the
    lengths of lines). For a lyric line under ``muchin``, only Han characters, spaces and the letters ``c``
    and ``R`` count. In all other cases, this number is equal to ``length``."""
    rhymes: int
    """Number of rhyme marks ``R`` in the line; under the rule set ``document``, several marks count as 1."""
    code: str = ""
    """Rhyme class of the line; empty in a template and in a line without a Han character."""
    source: str = ""
    """The original lyric line; empty in a template."""


class Section(NamedTuple):
    """Consecutive lines under one tag."""

    name: str
    """The name by which sections are compared; sections with equal names can be matched."""
    tag: str
    """The tag as in the text; empty for lines before the first tag."""
    lines: tuple[LyricLine, ...]


class ParsedLyric(NamedTuple):
    """A parsed template or lyric."""

    text: str
    """The text that phase 1 (similarity of the whole texts) compares."""
    sections: tuple[Section, ...]
    msstr: str
    """The text in the notation of a template: ``R`` for a rhyming Han character, ``c`` for any other."""


class ParsedPair(NamedTuple):
    """A template and the lyric that is scored against it."""

    template: ParsedLyric
    lyric: ParsedLyric


class LineReading(NamedTuple):
    """A lyric line in two forms: without and with a rhyme mark ``R``."""

    code: str
    """Rhyme class; empty if the line has no Han character."""
    plain: LyricLine
    rhymed: LyricLine
    """The line with ``R`` for its last Han character; equal to ``plain`` if it has no Han character."""

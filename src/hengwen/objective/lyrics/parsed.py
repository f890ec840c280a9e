"""Parsed templates and lyrics: sections of lines, each line with its text and its counts."""

from __future__ import annotations

from typing import NamedTuple

MAX_CACHED_CHARACTERS = 100
"""Longer lines are parsed at every call, so that the caches stay small."""


class LyricLine(NamedTuple):
    """One line of a section."""

    text: str
    """The line as it stands in ``ParsedLyric.text``: ``c``, ``R`` and every character that is not Han."""
    length: int
    """Characters counted in the denominator of p3."""
    effective: int
    """Characters counted in the numerator of p3; equal to ``length`` in a template."""
    rhymes: int
    """Rhyme marks: their number (muchin), or 1 if there is any (document)."""
    code: str = ""
    """Rhyme class; empty in a template and where the line has no Han character."""
    source: str = ""
    """The line before it was simplified; empty in a template."""


class Section(NamedTuple):
    """Consecutive lines under one tag."""

    name: str
    """The name that is compared: sections with equal names can be matched."""
    tag: str
    """The tag as it stands in the text; empty for lines ahead of the first tag."""
    lines: tuple[LyricLine, ...]


class ParsedLyric(NamedTuple):
    """A parsed template or lyric."""

    text: str
    """The text that phase 1 compares."""
    sections: tuple[Section, ...]
    msstr: str
    """The simplified text; in a template equal to ``text``."""


class ParsedPair(NamedTuple):
    """A template and the lyric that is scored against it."""

    template: ParsedLyric
    lyric: ParsedLyric


class LineReading(NamedTuple):
    """A line of a lyric in both of its forms, before it is known whether it rhymes."""

    code: str
    """Rhyme class; empty without a Han character."""
    plain: LyricLine
    rhymed: LyricLine
    """The line with its last Han character as ``R``; equal to ``plain`` without a Han character."""

"""A template or a lyric as the scorer sees it: sections of lines, each line reduced to three numbers."""

from __future__ import annotations

from typing import NamedTuple

LONGEST_CACHED = 100
"""Longer lines are read anew each time, so that caches stay small."""


class LyricLine(NamedTuple):
    """One line of a section."""

    text: str
    """As it stands in ``ParsedLyric.text``: ``c``, ``R`` and what else was in the line."""
    length: int
    """Characters that are counted in the denominator of p3."""
    effective: int
    """Characters that are counted in its numerator; the same as ``length`` in a template."""
    rhymes: int
    """Rhyme marks: their number (muchin), or 1 if there is any (document)."""
    code: str = ""
    """Rhyme class; empty in a template and where the line has no Han character."""
    source: str = ""
    """The line as it was written; empty in a template."""


class Section(NamedTuple):
    """Consecutive lines under one tag."""

    name: str
    """What is compared: equal names may be matched."""
    tag: str
    """The tag as it stands in the text; empty for lines ahead of the first tag."""
    lines: tuple[LyricLine, ...]


class ParsedLyric(NamedTuple):
    """A whole template or lyric."""

    text: str
    """What phase 1 compares."""
    sections: tuple[Section, ...]
    msstr: str
    """The simplified text; of a template the same as ``text``."""


class LineReading(NamedTuple):
    """A line of a lyric before it is known whether it rhymes."""

    code: str
    """Rhyme class; empty without a Han character."""
    plain: LyricLine
    rhymed: LyricLine
    """The same with the last Han character as ``R``; without Han the same as ``plain``."""


def mark_rhymes(readings: list[LineReading]) -> tuple[LyricLine, ...]:
    """Return the lines of one section, those marked whose class two lines or more have in common.

    Examples:
        >>> reading = LineReading("17G", LyricLine("c", 1, 1, 0, "17G"), LyricLine("R", 1, 1, 1, "17G"))
        >>> [[line.text for line in mark_rhymes([reading] * count)] for count in (1, 2)]
        [['c'], ['R', 'R']]
    """
    sizes: dict[str, int] = {}
    for code, _, _ in readings:
        sizes[code] = sizes.get(code, 0) + 1
    sizes[""] = 0
    return tuple([rhymed if sizes[code] > 1 else plain for code, plain, rhymed in readings])

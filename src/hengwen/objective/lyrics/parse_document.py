"""Parse a template and a lyric under the rule set ``document``.

In the rule set ``document``, blank lines are ignored, and a section tag is a whole line.
"""

from __future__ import annotations

import re
from functools import lru_cache

from hengwen.objective.lyrics.parsed import (
    MAX_CACHED_CHARACTERS,
    LineReading,
    LyricLine,
    ParsedLyric,
    Section,
)
from hengwen.objective.rhyme import class_of_ending, last_han, mark_rhymes

_TAG = re.compile(r"\([\w-]+\)")
_HAN = re.compile("[\u4e00-\u9fff]")
_HAN_ONLY = re.compile("[\u4e00-\u9fff]+")
_LITERALS = str.maketrans("cR", "\ufffd\ufffd")
"""Translation of the letters c and R in a lyric to U+FFFD: they must not count as characters or rhymes."""


def parse_template(template: str) -> ParsedLyric:
    """Parse a template into its sections."""
    blocks = split(template)
    sections = tuple(
        Section(name, tag, tuple([_template_line(line) for line in lines])) for name, tag, lines in blocks
    )
    text = _canonical(sections)
    return ParsedLyric(text, sections, text)


def parse_lyric(lyric: str) -> ParsedLyric:
    """Parse a lyric into its sections and mark the lines that rhyme with another line of their section."""
    sections = tuple(
        [
            Section(name, tag, mark_rhymes([_parse(line) for line in lines]))
            for name, tag, lines in split(lyric)
        ]
    )
    text = _canonical(sections)
    return ParsedLyric(text, sections, text)


def split(text: str) -> list[tuple[str, str, list[str]]]:
    """Split a text into sections of (name, tag, stripped lines that are not blank)."""
    lines: list[str] = []
    blocks = [("", "", lines)]
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("(") and _TAG.fullmatch(line):
            lines = []
            blocks.append((section_name(line[1:-1]), line, lines))
        elif line:
            lines.append(line)
    return blocks if blocks[0][2] else blocks[1:]


def section_name(tag: str) -> str:
    """Return the name in a section tag, in lower case and without a number at its end."""
    folded = tag.casefold()
    end = len(folded)
    while end and folded[end - 1].isdecimal():
        end -= 1
    return folded[:end].rstrip("-_") or folded


def parse_line(line: str) -> LineReading:
    """Replace each Han character of a line by ``c``."""
    if _HAN_ONLY.fullmatch(line):
        text, size, end = "c" * len(line), len(line), len(line) - 1
    else:
        text, size = _HAN.subn("c", line.translate(_LITERALS))
        end = last_han(line)
    if not size:
        plain = LyricLine(text, 0, 0, 0, "", line)
        return LineReading("", plain, plain)
    code = class_of_ending(line, end)
    plain = LyricLine(text, size, size, 0, code, line)
    return LineReading(code, plain, plain._replace(text=f"{text[:end]}R{text[end + 1 :]}", rhymes=1))


_parse_short_line = lru_cache(maxsize=1 << 14)(parse_line)


def _parse(line: str) -> LineReading:
    return _parse_short_line(line) if len(line) <= MAX_CACHED_CHARACTERS else parse_line(line)


def _template_line(line: str) -> LyricLine:
    size = line.count("c") + line.count("R")
    return LyricLine(line, size, size, int("R" in line))


def _canonical(sections: tuple[Section, ...]) -> str:
    rows = []
    for section in sections:
        if section.tag:
            rows.append(section.tag)
        rows += [line.text for line in section.lines]
    return "\n".join(rows)

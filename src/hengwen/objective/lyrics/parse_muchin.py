"""Parse a template and a lyric under the rule set ``muchin``, exactly as the public program MuChin does."""

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

_TAG = re.compile(r"(\([\w-]+\)\n?)")
_HAN = re.compile("[\u4e00-\u9fff]")
_HAN_ONLY = re.compile("([\u4e00-\u9fff]+)(\n?)")


def parse_template(template: str) -> ParsedLyric:
    """Parse a template into its sections; keep its raw text, which phase 1 (similarity of texts) compares."""
    _, blocks = split(template)
    sections = tuple(
        Section(tag[1].upper(), tag, tuple([_template_line(line) for line in lines])) for tag, lines in blocks
    )
    return ParsedLyric(template, sections, template)


def parse_lyric(lyric: str) -> ParsedLyric:
    """Parse a lyric into its sections; text before the first tag belongs to no section."""
    ahead, blocks = split(lyric)
    if not blocks:
        return ParsedLyric("", (), "")
    sections = tuple(
        Section(tag[1].upper(), tag, mark_rhymes([_parse(line) for line in lines])) for tag, lines in blocks
    )
    parts = [ahead]
    for section in sections:
        parts.append(section.tag)
        parts += [line.text for line in section.lines]
    text = "".join(parts)
    return ParsedLyric(text, sections, text)


def split(text: str) -> tuple[str, list[tuple[str, list[str]]]]:
    """Split a text into the part before the first tag, and sections of (tag, lines with their line ends)."""
    ahead, *rest = _TAG.split(text)
    return ahead, [(tag, body.splitlines(True)) for tag, body in zip(rest[::2], rest[1::2], strict=True)]


def parse_line(line: str) -> LineReading:
    """Replace each Han character of a line by ``c``."""
    if match := _HAN_ONLY.fullmatch(line):
        size, line_end = match.end(1), match[2]
        code = class_of_ending(line, size - 1)
        plain = LyricLine(f"{'c' * size}{line_end}", size, size, 0, code, line)
        return LineReading(code, plain, plain._replace(text=f"{'c' * (size - 1)}R{line_end}", rhymes=1))
    return _parse_mixed(line)


_parse_short_line = lru_cache(maxsize=1 << 14)(parse_line)


def _parse(line: str) -> LineReading:
    return _parse_short_line(line) if len(line) <= MAX_CACHED_CHARACTERS else parse_line(line)


def _parse_mixed(line: str) -> LineReading:
    text = _HAN.sub("c", line)
    core = text.strip()
    marks = core.count("R")
    effective = core.count("c") + core.count(" ") + marks
    end = last_han(line)
    code = class_of_ending(line, end) if end >= 0 else ""
    plain = LyricLine(text, len(core), effective, marks, code, line)
    if end < 0:
        return LineReading("", plain, plain)
    return LineReading(code, plain, plain._replace(text=f"{text[:end]}R{text[end + 1 :]}", rhymes=marks + 1))


def _template_line(line: str) -> LyricLine:
    core = line.strip()
    return LyricLine(line, len(core), len(core), core.count("R"))

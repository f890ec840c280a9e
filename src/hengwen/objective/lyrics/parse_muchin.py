"""How the rule set ``muchin`` reads a template and a lyric: as the public program does, without cleaning."""

from __future__ import annotations

import re
from functools import lru_cache

from hengwen.objective.lyrics.parsed import (
    LONGEST_CACHED,
    LineReading,
    LyricLine,
    ParsedLyric,
    Section,
    mark_rhymes,
)
from hengwen.objective.rhyme.lookup import class_of_ending, last_han

_TAG = re.compile(r"(\([\w-]+\)\n?)")
_HAN = re.compile("[\u4e00-\u9fff]")
_HAN_ONLY = re.compile("([\u4e00-\u9fff]+)(\n?)")


def read_template(template: str) -> ParsedLyric:
    """Return the sections of a template; phase 1 compares its raw text."""
    _, blocks = split(template)
    sections = tuple(
        Section(tag[1].upper(), tag, tuple([_template_line(line) for line in lines])) for tag, lines in blocks
    )
    return ParsedLyric(template, sections, template)


def read_lyric(lyric: str) -> ParsedLyric:
    """Return the sections of a lyric; what stands ahead of the first tag is put in front as it is.

    Examples:
        >>> read_lyric("hi(verse)\\n月亮\\n海洋\\n风").text
        'hi(verse)\\ncR\\ncR\\nc'
        >>> read_lyric("月亮").text
        ''
    """
    ahead, blocks = split(lyric)
    if not blocks:
        return ParsedLyric("", (), "")
    sections = tuple(
        Section(tag[1].upper(), tag, mark_rhymes([_read(line) for line in lines])) for tag, lines in blocks
    )
    parts = [ahead]
    for section in sections:
        parts.append(section.tag)
        parts += [line.text for line in section.lines]
    text = "".join(parts)
    return ParsedLyric(text, sections, text)


def split(text: str) -> tuple[str, list[tuple[str, list[str]]]]:
    """Return the text ahead of the first tag, and (tag, lines with their ends) for each section.

    Examples:
        >>> split("hi(verse)\\na\\n\\n(oh)b")
        ('hi', [('(verse)\\n', ['a\\n', '\\n']), ('(oh)', ['b'])])
    """
    ahead, *rest = _TAG.split(text)
    return ahead, [(tag, body.splitlines(True)) for tag, body in zip(rest[::2], rest[1::2], strict=True)]


def read_line(line: str) -> LineReading:
    """Return a line simplified, without and with its rhyme mark.

    Examples:
        >>> read_line("月光c\\n").rhymed
        LyricLine(text='cRc\\n', length=3, effective=3, rhymes=1, code='16T', source='月光c\\n')
    """
    if found := _HAN_ONLY.fullmatch(line):
        size = found.end(1)
        code = class_of_ending(line, size - 1)
        plain = LyricLine(f"{'c' * size}{found[2]}", size, size, 0, code, line)
        return LineReading(code, plain, plain._replace(text=f"{'c' * (size - 1)}R{found[2]}", rhymes=1))
    return _read_mixed(line)


read_short_line = lru_cache(maxsize=1 << 14)(read_line)


def _read(line: str) -> LineReading:
    return read_short_line(line) if len(line) <= LONGEST_CACHED else read_line(line)


def _read_mixed(line: str) -> LineReading:
    text = _HAN.sub("c", line)
    core = text.strip()
    marks = core.count("R")
    effective = core.count("c") + core.count(" ") + marks
    at = last_han(line)
    code = class_of_ending(line, at) if at >= 0 else ""
    plain = LyricLine(text, len(core), effective, marks, code, line)
    if at < 0:
        return LineReading("", plain, plain)
    return LineReading(code, plain, plain._replace(text=f"{text[:at]}R{text[at + 1 :]}", rhymes=marks + 1))


def _template_line(line: str) -> LyricLine:
    core = line.strip()
    return LyricLine(line, len(core), len(core), core.count("R"))

"""Templates (msstr, 乐段结构符号序列): derive a template from a lyric, and check a template."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hengwen.objective.lyrics import parse_document, parse_muchin
from hengwen.objective.lyrics.parsed import Section
from hengwen.objective.lyrics.rules import RulesLike, resolve_rules
from hengwen.objective.rhyme import last_han

_TAG = re.compile(r"\([\w-]+\)")
_NEARLY = re.compile(r"[(（\[【<].*[)）\]】>]:?")
_FOREIGN = re.compile("[^cR ]")


def to_msstr(lyric: str, *, rules: RulesLike = "document", clean: bool = False) -> str:
    """Return a lyric in the notation of a template: ``c`` for each Han character, ``R`` for rhymes.

    Args:
        lyric: Lines of text under tags like ``(verse)``.
        rules: Rule set under which the lyric is parsed: ``document`` or ``muchin``.
        clean: Whether to keep only tags, ``c``, ``R`` and line ends, so that the result can be used as a
            template; a line without Han characters is dropped.

    Returns:
        The lyric in the notation of a template; its tags stay unchanged. Each Han character becomes ``c``,
        but the last Han character of a rhyming line becomes ``R``. Without ``clean``, the result is the text
        that the scorer compares. With rules ``muchin``, all characters other than Han stay unchanged. With
        rules ``document``, the letters ``c`` and ``R`` become U+FFFD, and blank lines and whitespace at the
        start and end of lines are dropped.

    Examples:
        >>> to_msstr("(verse)\\n夜, 月光\\noh\\n海洋\\n来")
        '(verse)\\nc, cR\\noh\\ncR\\nc'
        >>> to_msstr("(verse)\\n夜, 月光\\noh\\n海洋\\n来", clean=True)
        '(verse)\\nccR\\ncR\\nc'
    """
    reading = resolve_rules(rules).reading
    parsed = (parse_muchin if reading == "muchin" else parse_document).parse_lyric(lyric)
    return "\n".join(_clean_rows(parsed.sections)) if clean else parsed.msstr


def _clean_rows(sections: tuple[Section, ...]) -> Iterator[str]:
    for section in sections:
        if section.tag:
            yield section.tag.strip()
        for line in section.lines:
            if line.code:
                characters = sum("\u4e00" <= char <= "\u9fff" for char in line.source)
                marked = line.text[last_han(line.source)] == "R"
                yield "c" * (characters - marked) + "R" * marked


def check_template(template: str) -> tuple[str, ...]:
    """Return the faults of a template, line by line.

    Returns:
        Messages with line numbers; empty for a template without faults.

    Examples:
        >>> print(*check_template("(verse)\\ncccR\\nccRc\\n（副歌）"), sep="\\n")
        line 3: R inside the line, it must be the last character
        line 4: '（副歌）' is not a tag, write (name) in ASCII parentheses
        >>> check_template("(verse)\\ncccR\\ncccR")
        ()
    """
    if not template.strip():
        return ("the template is empty",)
    return tuple(_faults(template))


def _faults(template: str) -> Iterator[str]:
    section: str | None = None
    first_line, lines, rhymes, tagged = 0, 0, 0, False
    for number, raw in enumerate([*template.splitlines(), None], 1):
        line = None if raw is None else raw.strip()
        if line is None or _TAG.fullmatch(line):
            if section is not None:
                yield from _section_faults(section, first_line, lines, rhymes)
            section, first_line, lines, rhymes = line, number, 0, 0
            tagged = tagged or line is not None
            continue
        if not line:
            yield f"line {number}: blank"
            continue
        if section is None and not tagged:
            section, first_line = "", number
        lines += 1
        rhymes += "R" in line
        yield from _line_faults(number, line)
    if not tagged:
        yield "no section tag such as (verse), so no section of a lyric can match"


def _line_faults(number: int, line: str) -> Iterator[str]:
    foreign = _FOREIGN.findall(line)
    if _NEARLY.fullmatch(line):
        yield f"line {number}: {line!r} is not a tag, write (name) in ASCII parentheses"
    elif foreign:
        signs = " ".join(dict.fromkeys(foreign))
        yield f"line {number}: unexpected {signs!r}, a line consists of c, R and spaces"
    elif "R" in line[:-1]:
        yield f"line {number}: R inside the line, it must be the last character"


def _section_faults(section: str, first_line: int, lines: int, rhymes: int) -> Iterator[str]:
    name = section or "without a tag"
    if not lines:
        yield f"line {first_line}: section {name} has no lines"
    if rhymes == 1:
        yield f"line {first_line}: section {name} has a single R, a rhyme needs two lines"

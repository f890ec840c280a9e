"""Templates (msstr, 乐段结构符号序列): made from lyrics, and checked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hengwen.objective.lyrics import parse_document, parse_muchin
from hengwen.objective.lyrics.options import check_options
from hengwen.objective.rhyme.lookup import last_han

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hengwen.objective.lyrics.parsed import Section
    from hengwen.objective.lyrics.rules import RulesLike

_TAG = re.compile(r"\([\w-]+\)")
_NEARLY = re.compile(r"[(（\[【<].*[)）\]】>]:?")
_FOREIGN = re.compile("[^cR ]")


def to_msstr(lyric: str, *, rules: RulesLike = "document", clean: bool = False) -> str:
    """Return a lyric simplified to the signs of a template.

    Args:
        lyric: Lines of text under tags like ``(verse)``.
        rules: How it is read, as in ``score_lyric``.
        clean: Keep nothing but tags, ``c``, ``R`` and line ends, so that the result can serve as a template;
            a line without Han characters is dropped.

    Returns:
        Tags as they are, each Han character as ``c``, the last one of a rhyming line as ``R``. Without
        ``clean`` what is not Han stays as it is (literal ``c`` and ``R`` become U+FFFD under ``document``),
        exactly as the scorer compares it.

    Examples:
        >>> to_msstr("(verse)\\n夜, 月光\\noh\\n海洋\\n来")
        '(verse)\\nc, cR\\noh\\ncR\\nc'
        >>> to_msstr("(verse)\\n夜, 月光\\noh\\n海洋\\n来", clean=True)
        '(verse)\\nccR\\ncR\\nc'
    """
    reading = check_options(rules).rules.reading
    text = (parse_muchin if reading == "muchin" else parse_document).read_lyric(lyric)
    return "\n".join(_clean_rows(text.sections)) if clean else text.msstr


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
    """Name what is wrong in a template, line by line.

    Returns:
        Messages with line numbers; empty for a template without fault.

    Examples:
        >>> print(*check_template("(verse)\\ncccR\\nccRc\\n（副歌）"), sep="\\n")
        line 3: R stands inside the line, a rhyme is its last sign
        line 4: '（副歌）' is no tag, a tag is (name) in ASCII parentheses
        >>> check_template("(verse)\\ncccR\\ncccR")
        ()
    """
    if not template.strip():
        return ("the template is empty",)
    return tuple(_problems(template))


def _problems(template: str) -> Iterator[str]:
    section: str | None = None
    opened, lines, rhymes, tagged = 0, 0, 0, False
    for number, raw in enumerate([*template.splitlines(), None], 1):
        line = None if raw is None else raw.strip()
        if line is None or _TAG.fullmatch(line):
            if section is not None:
                yield from _section_problems(section, opened, lines, rhymes)
            section, opened, lines, rhymes = line, number, 0, 0
            tagged = tagged or line is not None
            continue
        if not line:
            yield f"line {number}: blank"
            continue
        if section is None and not tagged:
            section, opened = "", number
        lines += 1
        rhymes += "R" in line
        yield from _line_problems(number, line)
    if not tagged:
        yield "no section tag such as (verse): the lyric's tags can match nothing"


def _line_problems(number: int, line: str) -> Iterator[str]:
    foreign = _FOREIGN.findall(line)
    if _NEARLY.fullmatch(line):
        yield f"line {number}: {line!r} is no tag, a tag is (name) in ASCII parentheses"
    elif foreign:
        signs = " ".join(dict.fromkeys(foreign))
        yield f"line {number}: {signs!r} in a line, which may hold c, R and spaces only"
    elif "R" in line[:-1]:
        yield f"line {number}: R stands inside the line, a rhyme is its last sign"


def _section_problems(section: str, opened: int, lines: int, rhymes: int) -> Iterator[str]:
    name = section or "without a tag"
    if not lines:
        yield f"line {opened}: section {name} has no lines"
    if rhymes == 1:
        yield f"line {opened}: section {name} asks for one rhyme, and one line rhymes with nothing"

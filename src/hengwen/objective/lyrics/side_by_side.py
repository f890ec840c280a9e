"""Two lyrics line by line on the template that both should follow."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from hengwen.objective.lyrics.phases import match_sections
from hengwen.objective.lyrics.score_lyric import parse_pair
from hengwen.objective.rhyme import last_han

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hengwen.objective.lyrics.parsed import LyricLine, ParsedPair, Section
    from hengwen.objective.lyrics.score_lyric import LyricScore

    Alignment = tuple[list[list[Section]], dict[int, Section]]
    """Sections of a lyric that match none, by the number of template sections before them; and the section
    that matches each template section."""


class SungLine(NamedTuple):
    """One line of a lyric beside its template line."""

    text: str
    surplus: int | None
    """Characters more than the template wants, negative if fewer; None without a template line."""
    rhyme: int | None
    """Number of the rhyme in its section, from 0; None if the line rhymes with no other of its section."""
    rhyming: int
    """Index of the rhyming character in the text; -1 if the line does not rhyme."""
    misses_rhyme: bool
    """Whether the template wants a rhyme that the line does not have."""


class TemplateLine(NamedTuple):
    """One line of the template with the line of each lyric; None where there is none."""

    length: int | None
    """Number of characters that the template wants; None for a line that the template does not have."""
    wants_rhyme: bool
    lines: tuple[SungLine | None, SungLine | None]


class SectionPair(NamedTuple):
    """One section of the template with those of both lyrics that match it, or a section of a lyric alone."""

    tag: str
    is_wanted: bool
    """Whether the template has the section."""
    lines: tuple[TemplateLine, ...]


def side_by_side(before: LyricScore, after: LyricScore) -> tuple[SectionPair, ...]:
    """Return both lyrics on the lines of their template, in the order of the template."""
    pairs = [
        score.parsed or parse_pair(score.lyric, score.template, score.options.rules.reading)
        for score in (before, after)
    ]
    alignments = [_align(pair, before.options.rules.autojunk) for pair in pairs]
    template = pairs[0].template.sections
    return tuple(_sections(template, alignments))


def _align(pair: ParsedPair, autojunk: bool) -> Alignment:
    template, lyric = pair
    _, matches = match_sections(template, lyric, autojunk)
    alone: list[list[Section]] = [[] for _ in range(len(template.sections) + 1)]
    start = 0
    for i, j in [*matches, (len(template.sections), len(lyric.sections))]:
        alone[i] += lyric.sections[start:j]
        start = j + 1
    return alone, {i: lyric.sections[j] for i, j in matches}


def _sections(template: tuple[Section, ...], alignments: list[Alignment]) -> Iterator[SectionPair]:
    for i in range(len(template) + 1):
        for side, (alone, _) in enumerate(alignments):
            for section in alone[i]:
                yield _pair(None, section if side == 0 else None, section if side == 1 else None)
        if i < len(template):
            yield _pair(template[i], *(matched.get(i) for _, matched in alignments))


def _pair(template: Section | None, before: Section | None, after: Section | None) -> SectionPair:
    first = template or before or after
    assert first is not None
    rows = zip_longest(*(section.lines if section else () for section in (template, before, after)))
    rhymes = [_rhymes(section) for section in (before, after)]
    lines = tuple(
        TemplateLine(
            due.length if due else None,
            due is not None and due.rhymes > 0,
            (_line(due, old, rhymes[0]), _line(due, new, rhymes[1])),
        )
        for due, old, new in rows
    )
    return SectionPair(first.tag.strip(), template is not None, lines)


def _rhymes(section: Section | None) -> dict[str, int]:
    """Return the number of each rhyme class of a section, in the order in which lines rhyme."""
    codes = [line.code for line in section.lines if line.rhymes] if section else []
    return {code: number for number, code in enumerate(dict.fromkeys(codes))}


def _line(template: LyricLine | None, line: LyricLine | None, rhymes: dict[str, int]) -> SungLine | None:
    if line is None:
        return None
    text = line.source.strip()
    return SungLine(
        text,
        line.effective - template.length if template else None,
        rhymes.get(line.code) if line.rhymes else None,
        last_han(text) if line.rhymes else -1,
        template is not None and template.rhymes > 0 and not line.rhymes,
    )

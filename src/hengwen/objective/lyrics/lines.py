"""Compare a template and a lyric line by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, zip_longest

from hengwen.objective.lyrics.parsed import LyricLine, ParsedLyric, Section
from hengwen.objective.lyrics.phases import count_factor, match_sections
from hengwen.objective.lyrics.rules import LyricRules
from hengwen.objective.rhyme import rhyme_name


@dataclass(frozen=True, slots=True, kw_only=True)
class LineDiagnosis:
    """One row of the comparison: a template line and a lyric line side by side, or one of them alone."""

    section: str
    """The section's tag, such as ``(verse)``; empty for lines before the first tag."""
    section_number: int
    """Number of the section in the comparison, from 1."""
    matched: bool
    """Whether the row belongs to two matched sections (one of the template, one of the lyric)."""
    template: str | None
    """The template line; None if the row has only a lyric line."""
    lyric: str | None
    """The lyric line with ``R`` for the last Han character, if the line rhymes, and ``c`` for every other Han
    character; None if the row has only a template line."""
    source: str
    """The lyric line with its original characters; empty if the row has only a template line."""
    number: int | None
    """Number of the lyric line, from 1; tags are not counted."""
    template_count: int | None
    """Number of characters of the template line."""
    lyric_count: int | None
    """Number of characters of the lyric line that phase 3 (lengths of lines) counts: Han characters; with
    rules ``muchin`` also spaces and the letters ``c`` and ``R``."""
    factor: float | None
    """Similarity of the numbers of characters of the two lines, 0 to 1; None if a line is missing. Without
    ``strict_count``, the points for line lengths are proportional to the product of these values."""
    code: str
    """Rhyme class of the lyric line; empty if the line has no Han character."""
    template_rhymes: bool
    """Whether the template line requires a rhyme."""
    lyric_rhymes: bool
    """Whether the lyric line rhymes with another line of its section."""
    group: tuple[int, ...]
    """Numbers of all lyric lines of the section that have the rhyme class of this line, including this line.
    The tuple is empty if this line has no rhyme class."""

    @property
    def rhyme_name(self) -> str:
        """Chinese name of the rhyme class, such as ``十七庚``."""
        return rhyme_name(self.code)

    @property
    def rhymes_with(self) -> tuple[int, ...]:
        """Numbers of the other lines of the section that have the rhyme class of this line."""
        return tuple([number for number in self.group if number != self.number])

    @property
    def exact(self) -> bool:
        """Whether the lyric line has exactly as many characters as the template line."""
        return self.template_count is not None and self.template_count == self.lyric_count


def diagnose(template: ParsedLyric, lyric: ParsedLyric, rules: LyricRules) -> tuple[LineDiagnosis, ...]:
    """Return the rows of the comparison, one for each pair of lines and for each line alone, in order."""
    _, pairs = match_sections(template, lyric, rules.autojunk)
    rows: list[LineDiagnosis] = []
    numbers = count(1)
    for number, sections in enumerate(_align(template.sections, lyric.sections, pairs), 1):
        rows += _section_rows(number, *sections, numbers)
    return tuple(rows)


def _align(
    template: tuple[Section, ...], lyric: tuple[Section, ...], pairs: list[tuple[int, int]]
) -> Iterator[tuple[Section | None, Section | None]]:
    """Yield pairs of matched sections, and unmatched sections alone, in the order of the texts."""
    template_start = lyric_start = 0
    for i, j in [*pairs, (len(template), len(lyric))]:
        yield from ((section, None) for section in template[template_start:i])
        yield from ((None, section) for section in lyric[lyric_start:j])
        if i < len(template) and j < len(lyric):
            yield template[i], lyric[j]
        template_start, lyric_start = i + 1, j + 1


def _section_rows(
    section_number: int, template: Section | None, lyric: Section | None, numbers: count[int]
) -> Iterator[LineDiagnosis]:
    lines = lyric.lines if lyric else ()
    numbered = [(next(numbers), line) for line in lines]
    groups: dict[str, tuple[int, ...]] = {}
    for code in {line.code for line in lines if line.code}:
        groups[code] = tuple([number for number, line in numbered if line.code == code])
    tag = (template or lyric).tag.strip()  # type: ignore[union-attr]
    matched = template is not None and lyric is not None
    for template_line, pair in zip_longest(template.lines if template else (), numbered):
        number, lyric_line = pair or (None, None)
        yield LineDiagnosis(
            section=tag,
            section_number=section_number,
            matched=matched,
            template=template_line.text.strip() if template_line else None,
            lyric=lyric_line.text.strip() if lyric_line else None,
            source=lyric_line.source.strip() if lyric_line else "",
            number=number,
            template_count=template_line.length if template_line else None,
            lyric_count=lyric_line.effective if lyric_line else None,
            factor=count_factor(template_line, lyric_line) if template_line and lyric_line else None,
            code=lyric_line.code if lyric_line else "",
            template_rhymes=_rhymes(template_line),
            lyric_rhymes=_rhymes(lyric_line),
            group=groups.get(lyric_line.code, ()) if lyric_line else (),
        )


def _rhymes(line: LyricLine | None) -> bool:
    return line is not None and line.rhymes > 0

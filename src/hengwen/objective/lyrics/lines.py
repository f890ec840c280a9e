"""Every line of a template and of a lyric side by side, so that a score can be recomputed by hand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, zip_longest
from typing import TYPE_CHECKING

from hengwen.objective.lyrics.parse import parse_pair
from hengwen.objective.lyrics.phases import count_factor, match_sections
from hengwen.objective.rhyme.classes import rhyme_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hengwen.objective.lyrics.parsed import LyricLine, Section
    from hengwen.objective.lyrics.score import LyricScore


@dataclass(frozen=True, slots=True, kw_only=True)
class LineDiagnosis:
    """One row: a line that was asked for, a line that was given, or both."""

    section: str
    """The tag, ``(verse)``; empty for lines ahead of the first tag."""
    section_number: int
    """1 for the first row's section, and so on."""
    matched: bool
    """Whether the section stands in both texts at corresponding places."""
    wanted: str | None
    """The template line; None where nothing was asked for."""
    got: str | None
    """The lyric line simplified; None where nothing was given."""
    source: str
    """The lyric line as it was written."""
    number: int | None
    """The lyric line's number, from 1, tags not counted."""
    wanted_count: int | None
    got_count: int | None
    """Characters that count; of a lyric line those that are effective."""
    factor: float | None
    """What the pair multiplies into p3_cr; None where the line has no partner."""
    code: str
    """Rhyme class of the lyric line; empty without a Han character."""
    rhymes: bool
    wanted_rhyme: bool
    group: tuple[int, ...]
    """Numbers of all lines of the section in the same class, this one among them; empty without a class."""

    @property
    def rhyme_name(self) -> str:
        """The name of the class, ``十七庚``."""
        return rhyme_name(self.code)

    @property
    def rhymes_with(self) -> tuple[int, ...]:
        """Numbers of the other lines of the section in the same class."""
        return tuple([number for number in self.group if number != self.number])

    @property
    def exact(self) -> bool:
        """Whether the number of characters is the one asked for."""
        return self.wanted_count is not None and self.wanted_count == self.got_count


def diagnose(score: LyricScore) -> tuple[LineDiagnosis, ...]:
    """Return the rows of a score, in the order of the texts.

    Examples:
        >>> from hengwen.objective import score_lyric
        >>> rows = diagnose(score_lyric("(verse)\\n月光\\n远方来\\n海洋", "(verse)\\ncR\\ncR"))
        >>> [(row.wanted, row.got, row.rhymes_with) for row in rows]
        [('cR', 'cR', (3,)), ('cR', 'ccc', ()), (None, 'cR', (1,))]
    """
    wanted, given = parse_pair(score.lyric, score.template, score.options)
    _, places = match_sections(wanted, given, score.options.rules.reading == "muchin")
    rows: list[LineDiagnosis] = []
    numbers = count(1)
    for place, (left, right) in enumerate(_align(wanted.sections, given.sections, places), 1):
        rows += _section_rows(place, left, right, numbers)
    return tuple(rows)


def _align(
    wanted: tuple[Section, ...], given: tuple[Section, ...], places: list[tuple[int, int]]
) -> Iterator[tuple[Section | None, Section | None]]:
    at = to = 0
    for i, j in [*places, (len(wanted), len(given))]:
        yield from ((section, None) for section in wanted[at:i])
        yield from ((None, section) for section in given[to:j])
        if i < len(wanted) and j < len(given):
            yield wanted[i], given[j]
        at, to = i + 1, j + 1


def _section_rows(
    place: int, left: Section | None, right: Section | None, numbers: count[int]
) -> Iterator[LineDiagnosis]:
    lines = right.lines if right else ()
    numbered = [(next(numbers), line) for line in lines]
    groups: dict[str, tuple[int, ...]] = {}
    for code in {line.code for line in lines if line.code}:
        groups[code] = tuple([number for number, line in numbered if line.code == code])
    tag = (left or right).tag.strip()  # type: ignore[union-attr]
    matched = left is not None and right is not None
    for want, pair in zip_longest(left.lines if left else (), numbered):
        number, got = pair or (None, None)
        yield LineDiagnosis(
            section=tag,
            section_number=place,
            matched=matched,
            wanted=want.text.strip() if want else None,
            got=got.text.strip() if got else None,
            source=got.source.strip() if got else "",
            number=number,
            wanted_count=want.length if want else None,
            got_count=got.effective if got else None,
            factor=count_factor(want, got) if want and got else None,
            code=got.code if got else "",
            rhymes=_rhymes(got),
            wanted_rhyme=_rhymes(want),
            group=groups.get(got.code, ()) if got else (),
        )


def _rhymes(line: LyricLine | None) -> bool:
    return line is not None and line.rhymes > 0

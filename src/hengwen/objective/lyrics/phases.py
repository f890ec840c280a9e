"""Compute the points of each phase (part) of a lyric score by comparing a lyric with its template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum
from typing import NamedTuple

from hengwen.objective.lyrics.parsed import LyricLine, ParsedLyric, Section
from hengwen.objective.lyrics.rules import LyricOptions, LyricRules
from hengwen.objective.matching import matching_blocks, ratio


@dataclass(frozen=True, kw_only=True)
class LyricPhases:
    """Points of the six phases (parts) of a lyric score, and the ratios and counts behind the points."""

    phase1: float
    """Points for the similarity of the whole texts: 0 to 10."""
    phase2_1: float
    """Points for the names, order and number of sections: 0 to 32.5."""
    phase2_2: float
    """Points for the numbers of lines in matched sections: 0 to 17.5."""
    phase3: float
    """Points for the number of characters in each line: 0 to 20."""
    phase4: float
    """Points for the number of rhyming lines: 0 to 20."""
    extra: float
    """The bonus for good rhyme: 0 to 10."""
    total: float
    """The sum of the six phases, correctly rounded: 0 to 110."""
    p1_sr: float
    """Ratio of phase 1, 0 to 1: similarity of the whole template and the whole simplified lyric."""
    p2_1_sr: float
    """Ratio of phase 2.1, 0 to 1: similarity of the section names of the template and of the lyric."""
    p2_2_cr: float
    """Ratio of phase 2.2, 0 to 1: 2 x ``lines_min`` / (number of lines of the template and of the lyric in
    matched sections + ``line_guard`` of the rules)."""
    p3_cr: float
    """Ratio of phase 3, 0 to 1. Each template line and the lyric line matched with it give a factor: the
    similarity of their numbers of characters. The ratio is the product of these factors. With
    ``strict_count``, it is the share of template lines whose lyric line has exactly as many characters."""
    p4_rr: float
    """Ratio of phase 4, 0 to 1: 2 x (the smaller of ``rhymes_required`` and ``rhymes_found``) / their sum.
    If both numbers are 0, the ratio is ``no_rhyme`` of the rules."""
    r_ratio: float
    """``rhymes_found`` divided by ``lines_min``, the number of lyric lines that are matched with a template
    line. The ratio can exceed 1 only with ``rhyme_scope="whole"`` or several rhyme marks in a line."""
    acmp_sr: float
    """The same value as ``structure_ratio``, under its name in the published description of the score."""
    rc_ino: int
    """The same value as ``rhymes_required``, under its name in the published description of the score."""
    rc_ing: int
    """The same value as ``rhymes_found``, under its name in the published description of the score."""
    pll_rc: int
    """The same value as ``rhymes_aligned``, under its name in the published description of the score."""
    lines_min: int
    """Number of matched lines: lyric lines with a template line at the same position of a matched section."""

    @property
    def base(self) -> float:
        """The total without the bonus: 0 to 100 for the default weights."""
        return self.phase1 + self.phase2_1 + self.phase2_2 + self.phase3 + self.phase4

    @property
    def bonus(self) -> float:
        """The bonus for good rhyme, equal to ``extra``."""
        return self.extra

    @property
    def structure_ratio(self) -> float:
        """Ratio of phase 2.1 (sections) times ratio of phase 2.2 (numbers of lines), 0 to 1."""
        return self.acmp_sr

    @property
    def rhymes_required(self) -> int:
        """Number of rhymes that the template requires in lines that are matched with a lyric line."""
        return self.rc_ino

    @property
    def rhymes_found(self) -> int:
        """Number of rhymes of the lyric in lines that are matched with a template line."""
        return self.rc_ing

    @property
    def rhymes_aligned(self) -> int:
        """Number of matched lines in which the template requires a rhyme and the lyric rhymes."""
        return self.pll_rc


def compute_phases(template: ParsedLyric, lyric: ParsedLyric, options: LyricOptions) -> LyricPhases:
    """Return the points of every phase (part) of a lyric score, and the ratios and counts behind them."""
    ratios = _ratios(template, lyric, options)
    rules = options.rules
    sections_ratio = (ratios.p1_sr if options.carry_phase1 else 1.0) * ratios.p2_1_sr
    structure_ratio = sections_ratio * ratios.p2_2_cr
    bonus = bonus_share(ratios.r_ratio, ratios.rc_ino, ratios.rc_ing, ratios.pll_rc, rules)
    phase1 = rules.full * rules.overall * ratios.p1_sr
    phase2_1 = rules.full * rules.structure * rules.section_share * sections_ratio
    phase2_2 = rules.full * rules.structure * rules.line_share * structure_ratio
    phase3 = rules.full * rules.counts * ratios.p3_cr * structure_ratio
    phase4 = rules.full * rules.rhyme * ratios.p4_rr * structure_ratio
    extra = rules.bonus * bonus * structure_ratio
    return LyricPhases(
        phase1=phase1,
        phase2_1=phase2_1,
        phase2_2=phase2_2,
        phase3=phase3,
        phase4=phase4,
        extra=extra,
        total=fsum((phase1, phase2_1, phase2_2, phase3, phase4, extra)),
        acmp_sr=structure_ratio,
        **ratios._asdict(),
    )


def match_sections(
    template: ParsedLyric, lyric: ParsedLyric, autojunk: bool
) -> tuple[float, list[tuple[int, int]]]:
    """Return the similarity of the section names of two texts, and the index pairs of matched sections."""
    signs: dict[str, str] = {}
    for section in chain(template.sections, lyric.sections):
        signs.setdefault(section.name, chr(len(signs) + 1))
    a = "".join([signs[section.name] for section in template.sections])
    b = "".join([signs[section.name] for section in lyric.sections])
    blocks = matching_blocks(a, b, autojunk=autojunk)
    pairs = [(i + step, j + step) for i, j, size in blocks for step in range(size)]
    return (2.0 * len(pairs) / (len(a) + len(b)) if a or b else 1.0), pairs


def count_factor(template_line: LyricLine, lyric_line: LyricLine) -> float:
    """Return the similarity of the character counts of two lines: 0 to 1, 1.0 for two empty lines."""
    characters = template_line.length + lyric_line.length
    return 2.0 * min(template_line.length, lyric_line.effective) / characters if characters else 1.0


def bonus_share(r_ratio: float, required: int, rhymed: int, aligned: int, rules: LyricRules) -> float:
    """Return the share of the rhyme bonus that a lyric gets."""
    if rules.band_low <= r_ratio <= rules.band_high:
        return 1.0
    if required == rhymed == aligned and aligned > 0:
        return rules.strict_bonus
    distance = abs(r_ratio - 0.7)
    return rules.near_bonus * (1.0 - distance) if distance <= 0.3 else 0.0


class _Ratios(NamedTuple):
    """Ratios and counts of the phases; the fields have the names of the fields of ``LyricPhases``."""

    p1_sr: float
    p2_1_sr: float
    p2_2_cr: float
    p3_cr: float
    p4_rr: float
    r_ratio: float
    rc_ino: int
    rc_ing: int
    pll_rc: int
    lines_min: int


def _ratios(template: ParsedLyric, lyric: ParsedLyric, options: LyricOptions) -> _Ratios:
    rules = options.rules
    p2_1_sr, pairs = match_sections(template, lyric, rules.autojunk)
    tally = _tally([(template.sections[i], lyric.sections[j]) for i, j in pairs])
    required, rhymed = tally.required, tally.rhymed
    if options.rhyme_scope == "whole":
        required, rhymed = _count_rhymes(template), _count_rhymes(lyric)
    return _Ratios(
        p1_sr=ratio(template.text, lyric.text, autojunk=rules.autojunk),
        p2_1_sr=p2_1_sr,
        p2_2_cr=_line_ratio(tally, rules),
        p3_cr=_exact_share(template, tally) if options.strict_count else tally.product,
        p4_rr=2.0 * min(required, rhymed) / (required + rhymed) if required + rhymed else rules.no_rhyme,
        r_ratio=rhymed / tally.matched if tally.matched else 0.0,
        rc_ino=required,
        rc_ing=rhymed,
        pll_rc=tally.aligned,
        lines_min=tally.matched,
    )


class _Tally(NamedTuple):
    """Results over all pairs (template line, lyric line at the same position of the matched section)."""

    matched: int
    """Number of pairs."""
    lines: int
    """Number of all lines of the template and of the lyric in matched sections."""
    product: float
    """Product of the factors of all pairs; a factor is the similarity of the two numbers of characters."""
    exact: int
    """Number of pairs in which the lyric line has exactly as many characters as the template line."""
    required: int
    """Number of rhymes that the template lines of all pairs require."""
    rhymed: int
    """Number of rhymes that the lyric lines of all pairs have."""
    aligned: int
    """Number of pairs in which the template line requires a rhyme and the lyric line rhymes: the bitwise AND
    of the two lines' numbers of rhyme marks is not 0."""


def _tally(pairs: Sequence[tuple[Section, Section]]) -> _Tally:
    matched = lines = exact = required = rhymed = aligned = 0
    product = 1.0
    for template, lyric in pairs:
        lines += len(template.lines) + len(lyric.lines)
        matched += min(len(template.lines), len(lyric.lines))
        for template_line, lyric_line in zip(template.lines, lyric.lines, strict=False):
            _, size, _, template_rhymes, _, _ = template_line
            _, length, effective, lyric_rhymes, _, _ = lyric_line
            if size != length or size != effective:
                product *= count_factor(template_line, lyric_line)
            exact += size == effective
            required += template_rhymes
            rhymed += lyric_rhymes
            aligned += (template_rhymes & lyric_rhymes) != 0
    return _Tally(matched, lines, product, exact, required, rhymed, aligned)


def _line_ratio(tally: _Tally, rules: LyricRules) -> float:
    denominator = rules.line_guard + tally.lines
    return 2.0 * tally.matched / denominator if denominator else 1.0


def _exact_share(template: ParsedLyric, tally: _Tally) -> float:
    lines = sum(len(section.lines) for section in template.sections)
    return tally.exact / lines if lines else 1.0


def _count_rhymes(parsed: ParsedLyric) -> int:
    return sum(line.rhymes for section in parsed.sections for line in section.lines)

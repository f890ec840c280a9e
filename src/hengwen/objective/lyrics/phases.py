"""The numbers of a lyric score, from a template and a lyric that are already read."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from hengwen.objective.matching.blocks import matching_blocks, ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.objective.lyrics.options import LyricOptions
    from hengwen.objective.lyrics.parsed import LyricLine, ParsedLyric, Section
    from hengwen.objective.lyrics.rules import LyricRules


def match_sections(
    wanted: ParsedLyric, given: ParsedLyric, autojunk: bool
) -> tuple[float, list[tuple[int, int]]]:
    """Return the similarity of the names in sequence, and the matched places (in template, in lyric)."""
    signs: dict[str, str] = {}
    for section in chain(wanted.sections, given.sections):
        signs.setdefault(section.name, chr(len(signs) + 1))
    a = "".join([signs[section.name] for section in wanted.sections])
    b = "".join([signs[section.name] for section in given.sections])
    blocks = matching_blocks(a, b, autojunk=autojunk)
    pairs = [(i + step, j + step) for i, j, size in blocks for step in range(size)]
    return (2.0 * len(pairs) / (len(a) + len(b)) if a or b else 1.0), pairs


class _Tally(NamedTuple):
    """What the matched sections add up to."""

    minimum: int
    both: int
    product: float
    exact: int
    asked: int
    given: int
    parallel: int


def _tally(pairs: Sequence[tuple[Section, Section]]) -> _Tally:
    minimum = both = exact = asked = given = parallel = 0
    product = 1.0
    for want, got in pairs:
        both += len(want.lines) + len(got.lines)
        minimum += min(len(want.lines), len(got.lines))
        for left, right in zip(want.lines, got.lines, strict=False):
            _, size, _, want_rhymes, _, _ = left
            _, length, effective, got_rhymes, _, _ = right
            if size != length or size != effective:
                product *= count_factor(left, right)
            exact += size == effective
            asked += want_rhymes
            given += got_rhymes
            parallel += (want_rhymes & got_rhymes) != 0
    return _Tally(minimum, both, product, exact, asked, given, parallel)


def count_factor(left: LyricLine, right: LyricLine) -> float:
    """Return the similarity of the numbers of characters of a pair of lines; two empty lines are alike."""
    both = left.length + right.length
    return 2.0 * min(left.length, right.effective) / both if both else 1.0


class _Ratios(NamedTuple):
    """What the weights are multiplied with."""

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


def weigh(wanted: ParsedLyric, given: ParsedLyric, options: LyricOptions) -> dict[str, Any]:
    """Return the numbers of a ``LyricScore`` by their names."""
    ratios = _ratios(wanted, given, options)
    rules = options.rules
    am_sr = (ratios.p1_sr if options.carry_phase1 else 1.0) * ratios.p2_1_sr
    acmp_sr = am_sr * ratios.p2_2_cr
    share = bonus_share(ratios.r_ratio, ratios.rc_ino, ratios.rc_ing, ratios.pll_rc, rules)
    phases = {
        "phase1": rules.full * rules.overall * ratios.p1_sr,
        "phase2_1": rules.full * rules.structure * rules.section_share * am_sr,
        "phase2_2": rules.full * rules.structure * rules.line_share * acmp_sr,
        "phase3": rules.full * rules.counts * ratios.p3_cr * acmp_sr,
        "phase4": rules.full * rules.rhyme * ratios.p4_rr * acmp_sr,
        "extra": rules.bonus * share * acmp_sr,
    }
    return {**phases, "total": sum(phases.values()), "acmp_sr": acmp_sr, **ratios._asdict()}


def _ratios(wanted: ParsedLyric, given: ParsedLyric, options: LyricOptions) -> _Ratios:
    rules = options.rules
    autojunk = rules.reading == "muchin"
    p2_1_sr, places = match_sections(wanted, given, autojunk)
    tally = _tally([(wanted.sections[i], given.sections[j]) for i, j in places])
    asked, rhymed = tally.asked, tally.given
    if options.rhyme_scope == "whole":
        asked, rhymed = _rhymes(wanted), _rhymes(given)
    return _Ratios(
        p1_sr=ratio(wanted.text, given.text, autojunk=autojunk),
        p2_1_sr=p2_1_sr,
        p2_2_cr=_line_ratio(tally, rules),
        p3_cr=_strict_ratio(wanted, tally) if options.strict_count else tally.product,
        p4_rr=2.0 * min(asked, rhymed) / (asked + rhymed) if asked + rhymed else rules.no_rhyme,
        r_ratio=rhymed / tally.minimum if tally.minimum else 0.0,
        rc_ino=asked,
        rc_ing=rhymed,
        pll_rc=tally.parallel,
        lines_min=tally.minimum,
    )


def bonus_share(r_ratio: float, asked: int, given: int, parallel: int, rules: LyricRules) -> float:
    """Return the share of the bonus: 1 in the band, less where every rhyme stands as asked, or near the band.

    Examples:
        >>> from hengwen.objective.lyrics.rules import NAMED_RULES
        >>> [bonus_share(r, 4, 4, 4, NAMED_RULES["document"]) for r in (0.7, 1.0)]
        [1.0, 0.5]
    """
    if rules.band_low <= r_ratio <= rules.band_high:
        return 1.0
    if asked == given == parallel and parallel > 0:
        return rules.strict_bonus
    distance = abs(r_ratio - 0.7)
    return rules.near_bonus * (1.0 - distance) if distance <= 0.3 else 0.0


def _line_ratio(tally: _Tally, rules: LyricRules) -> float:
    below = rules.line_guard + tally.both
    return 2.0 * tally.minimum / below if below else 1.0


def _strict_ratio(wanted: ParsedLyric, tally: _Tally) -> float:
    lines = sum(len(section.lines) for section in wanted.sections)
    return tally.exact / lines if lines else 1.0


def _rhymes(text: ParsedLyric) -> int:
    return sum(line.rhymes for section in text.sections for line in section.lines)

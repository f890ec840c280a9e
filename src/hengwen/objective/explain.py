"""A score told in words and as a table, so that anyone can recompute it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.objective.lyrics.phases import bonus_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from hengwen.objective.lyrics.lines import LineDiagnosis
    from hengwen.objective.lyrics.score import LyricScore

_HEAD = ("#", "section", "wanted", "got", "factor", "class", "rhymes", "line")


def explain(score: LyricScore) -> str:
    """Return the score as text: each line wanted and got, then the sums.

    Examples:
        >>> from hengwen.objective import score_lyric
        >>> score = score_lyric("(verse)\\n月光\\n远方", "(verse)\\ncR\\nccR")
        >>> print(explain(score).splitlines()[3])
        2  (verse)  3 R     2 R  0.8000  16T 十六唐  1       远方
    """
    return "\n".join(_text(score))


def table(score: LyricScore) -> Table:
    """Return the lines of the score as a table of rich."""
    from rich.table import Table
    from rich.text import Text

    made = Table(title=f"{score.total:.2f} = {score.base:.2f} + {score.bonus:.2f}", caption=score.signature)
    for name in _HEAD:
        made.add_column(name, justify="right" if name in {"#", "factor"} else "left")
    for row in score.lines:
        style = None if row.matched else "dim"
        made.add_row(*map(Text, _cells(row)), style=style)
    return made


def _text(score: LyricScore) -> Iterator[str]:
    yield f"total {score.total:.4f} = base {score.base:.4f} + bonus {score.bonus:.4f}   {score.signature}"
    rows = [_HEAD, *[_cells(row) for row in score.lines]]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(_HEAD) - 1)]
    for row in rows:
        cells = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)]
        yield "  ".join([*cells, row[-1]]).rstrip()
    yield from _sums(score)
    yield from (f"repair: {repair}" for repair in score.repairs)


def _cells(row: LineDiagnosis) -> tuple[str, ...]:
    return (
        "" if row.number is None else str(row.number),
        row.section if row.matched else f"{row.section} unmatched",
        _count(row.wanted_count, row.wanted_rhyme),
        _count(row.got_count, row.rhymes),
        "" if row.factor is None else f"{row.factor:.4f}",
        f"{row.code} {row.rhyme_name}" if row.code else "",
        " ".join(map(str, row.rhymes_with)),
        row.source,
    )


def _count(count: int | None, rhyme: bool) -> str:
    return "-" if count is None else f"{count}{' R' if rhyme else ''}"


def _sums(score: LyricScore) -> Iterator[str]:
    rules, options = score.options.rules, score.options
    start = f"p1_sr {score.p1_sr:.4f} x " if options.carry_phase1 else ""
    part = rules.full * rules.structure
    rest = f"x am {score.acmp_sr:.4f}"
    counted = "share of exact lines" if options.strict_count else "product of the factors"
    for name, value, top, ratio, note in (
        ("phase 1", score.phase1, rules.full * rules.overall, f"p1_sr {score.p1_sr:.4f}", "whole texts"),
        (
            "phase 2.1",
            score.phase2_1,
            part * rules.section_share,
            f"{start}p2_1_sr {score.p2_1_sr:.4f}",
            "names of sections",
        ),
        (
            "phase 2.2",
            score.phase2_2,
            part * rules.line_share,
            f"am {score.acmp_sr:.4f}",
            f"am = {start}p2_1_sr x p2_2_cr {score.p2_2_cr:.4f}; {score.lines_min} lines matched",
        ),
        ("phase 3", score.phase3, rules.full * rules.counts, f"p3_cr {score.p3_cr:.4f} {rest}", counted),
        (
            "phase 4",
            score.phase4,
            rules.full * rules.rhyme,
            f"p4_rr {score.p4_rr:.4f} {rest}",
            f"{score.rc_ing} rhymes for {score.rc_ino} asked",
        ),
    ):
        yield f"{name:<10} {value:8.4f} = {top:g} x {ratio} ({note})"
    share, why = _bonus(score)
    yield f"{'bonus':<10} {score.extra:8.4f} = {rules.bonus:g} x {share:.4f} {rest} ({why})"


def _bonus(score: LyricScore) -> tuple[float, str]:
    rules = score.options.rules
    share = bonus_share(score.r_ratio, score.rc_ino, score.rc_ing, score.pll_rc, rules)
    found = f"r = {score.rc_ing}/{score.lines_min} = {score.r_ratio:.4f}"
    if rules.band_low <= score.r_ratio <= rules.band_high:
        return share, f"{found} is in {rules.band_low:g} to {rules.band_high:g}"
    if score.rc_ino == score.rc_ing == score.pll_rc > 0:
        return share, f"{found} is off the band, but every rhyme stands where it was asked for"
    return share, f"{found} is {'near' if share else 'off'} the band"


def _width(text: str) -> int:
    """Columns in a terminal: Han and full-width signs take two."""
    return sum(2 if char >= "\u2e80" else 1 for char in text)

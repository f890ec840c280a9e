"""Show a lyric score as text or as a table, so that it can be recomputed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.objective.lyrics.phases import bonus_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from hengwen.objective.lyrics.lines import LineDiagnosis
    from hengwen.objective.lyrics.score_lyric import LyricScore

_HEADER = ("#", "section", "template", "lyric", "factor", "class", "rhymes", "line")


def explain(score: LyricScore) -> str:
    """Return the score as text: template and lyric line by line, then the sums of points."""
    return "\n".join(_text_rows(score))


def build_table(score: LyricScore) -> Table:
    """Return the lines of the score as a ``rich`` table."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"{score.total:.2f} = {score.base:.2f} + {score.bonus:.2f}", caption=score.signature)
    for name in _HEADER:
        table.add_column(name, justify="right" if name in {"#", "factor"} else "left")
    for line in score.lines:
        style = None if line.matched else "dim"
        table.add_row(*map(Text, _cells(line)), style=style)
    return table


def _text_rows(score: LyricScore) -> Iterator[str]:
    yield f"total {score.total:.4f} = base {score.base:.4f} + bonus {score.bonus:.4f}   {score.signature}"
    rows = [_HEADER, *[_cells(line) for line in score.lines]]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(_HEADER) - 1)]
    for row in rows:
        cells = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)]
        yield "  ".join([*cells, row[-1]]).rstrip()
    yield from _sums(score)
    yield from (f"repair: {repair}" for repair in score.repairs)


def _cells(line: LineDiagnosis) -> tuple[str, ...]:
    return (
        "" if line.number is None else str(line.number),
        line.section if line.matched else f"{line.section} unmatched",
        _count(line.template_count, line.template_rhymes),
        _count(line.lyric_count, line.lyric_rhymes),
        "" if line.factor is None else f"{line.factor:.4f}",
        f"{line.code} {line.rhyme_name}" if line.code else "",
        " ".join(map(str, line.rhymes_with)),
        line.source,
    )


def _count(count: int | None, rhymes: bool) -> str:
    return "-" if count is None else f"{count}{' R' if rhymes else ''}"


def _sums(score: LyricScore) -> Iterator[str]:
    rules, options = score.options.rules, score.options
    carried = f"p1_sr {score.p1_sr:.4f} x " if options.carry_phase1 else ""
    structure = rules.full * rules.structure
    scaled = f"x am {score.structure_ratio:.4f}"
    for name, points, maximum, ratio, note in (
        ("phase 1", score.phase1, rules.full * rules.overall, f"p1_sr {score.p1_sr:.4f}", "whole texts"),
        (
            "phase 2.1",
            score.phase2_1,
            structure * rules.section_share,
            f"{carried}p2_1_sr {score.p2_1_sr:.4f}",
            "names of sections",
        ),
        (
            "phase 2.2",
            score.phase2_2,
            structure * rules.line_share,
            f"am {score.structure_ratio:.4f}",
            f"am = {carried}p2_1_sr x p2_2_cr {score.p2_2_cr:.4f}; {score.lines_min} lines matched",
        ),
        (
            "phase 3",
            score.phase3,
            rules.full * rules.counts,
            f"p3_cr {score.p3_cr:.4f} {scaled}",
            "share of exact lines" if options.strict_count else "product of the factors",
        ),
        (
            "phase 4",
            score.phase4,
            rules.full * rules.rhyme,
            f"p4_rr {score.p4_rr:.4f} {scaled}",
            f"{score.rhymes_found} rhymes found, {score.rhymes_required} required",
        ),
    ):
        yield f"{name:<10} {points:8.4f} = {maximum:g} x {ratio} ({note})"
    share, reason = _bonus(score)
    yield f"{'bonus':<10} {score.bonus:8.4f} = {rules.bonus:g} x {share:.4f} {scaled} ({reason})"


def _bonus(score: LyricScore) -> tuple[float, str]:
    rules, r_ratio = score.options.rules, score.r_ratio
    required, rhymed, aligned = score.rhymes_required, score.rhymes_found, score.rhymes_aligned
    share = bonus_share(r_ratio, required, rhymed, aligned, rules)
    r_text = f"r = {rhymed}/{score.lines_min} = {r_ratio:.4f}"
    if rules.band_low <= r_ratio <= rules.band_high:
        return share, f"{r_text} is in the band {rules.band_low:g} to {rules.band_high:g}"
    if required == rhymed == aligned > 0:
        return share, f"{r_text} is outside the band, but every rhyme is on a line that requires one"
    return share, f"{r_text} is {'near' if share else 'outside'} the band"


def _width(text: str) -> int:
    """Return how many columns a text takes in a terminal; Han and full-width characters take two."""
    return sum(2 if char >= "\u2e80" else 1 for char in text)

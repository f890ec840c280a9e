"""Draw what stands in the cells of tables: the course of a score, its difference, a value beside a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from hengwen.documents.render.marks_svg import band, line, mark, marks_last, spots_of, value_label
from hengwen.text.numbers import minus
from hengwen.text.safety import strip_controls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.documents.blocks import Bar, Bounds, ScoreLine, Tone
    from hengwen.text.language import Language

COURSE_WIDTH, COURSE_HEIGHT = 268.0, 60.0
COURSE_LEFT, COURSE_RIGHT, COURSE_TOP, COURSE_BOTTOM = 44.0, 50.0, 14.0, 53.0
BAR_WIDTH, BAR_HEIGHT, BAR_MARGIN = 224.0, 44.0, 8.0
INTERVAL_HEIGHT, BARE_HEIGHT = 32.0, 20.0
"""Height of a value beside its limit, whose number stands below the line, and of one without a limit."""
MAX_DOTS = 40
"""Above this number of points, dots are smaller."""


def draw_course(score: ScoreLine, language: Language) -> Markup:
    """Return the course of a score over the range of its intervals, with the best seen and the newest."""
    points = score.course.points if score.course else ()
    values = [point.value for point in points if point.value is not None]
    if not values:
        return Markup("")
    ends = [end for point in points for end in (point.interval or ())] + values
    low, high = min(ends), max(ends)
    first, last = min(point.x for point in points), max(point.x for point in points)

    def x(value: float) -> float:
        share = (value - first) / (last - first) if last > first else 0.5
        return round(COURSE_LEFT + share * (COURSE_WIDTH - COURSE_LEFT - COURSE_RIGHT), 1)

    def y(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return round(COURSE_BOTTOM - share * (COURSE_BOTTOM - COURSE_TOP), 1)

    spots = spots_of(points, x, y)
    decimals = max(len(point.text.partition(".")[2]) for point in points)
    tick = Markup('<text class="tick" x="26" y="{:g}">{}</text>')
    parts = [
        Markup('<path class="axis" d="M30 {:g}V{:g}"/>').format(COURSE_TOP, COURSE_BOTTOM),
        tick.format(COURSE_TOP + 4, minus(f"{high:.{decimals}f}")),
        *([tick.format(COURSE_BOTTOM + 4, minus(f"{low:.{decimals}f}"))] if high > low else []),
        *band(spots),
        line(spots, "line"),
        *(mark(spot, COURSE_BOTTOM, language, is_small=len(spots) > MAX_DOTS) for spot in marks_last(spots)),
        *(
            value_label(spots, index, (8.0, COURSE_HEIGHT), COURSE_WIDTH)
            for index, spot in enumerate(spots)
            if spot.point.mark
        ),
    ]
    texts = ", ".join(f"{point.label} {point.text}" for point in points)
    return _svg("course", COURSE_WIDTH, COURSE_HEIGHT, f"{score.address}: {texts}", parts)


def draw_bar(bar: Bar, tone: Tone, text: str) -> Markup:
    """Return a difference with its intervals; left is worse."""
    turn = -1 if bar.lower_is_better else 1
    half = (BAR_WIDTH - 2 * BAR_MARGIN) / 2
    reach = max(abs(end) for end in bar.limits) or 1.0

    def x(value: float) -> float:
        share = turn * value / reach
        return round(BAR_WIDTH / 2 + half * min(max(share, -1.0), 1.0), 1)

    def stroke(style: str, ends: Bounds) -> Markup:
        first, last = sorted((x(ends[0]), x(ends[1])))
        return Markup('<path class="{}" d="M{:g} 18H{:g}"/>').format(style, first, last)

    low, high = (number_on_axis(side * turn * reach) for side in (-1, 1))
    tick = Markup('<text class="{}" x="{:g}" y="43">{}</text>')
    wide = bar.family_interval or bar.interval
    parts = [
        Markup('<path class="zero" d="M{:g} 2V30"/>').format(BAR_WIDTH / 2),
        *([stroke("thin", wide)] if wide and wide != bar.interval else []),
        *([stroke("thick", bar.interval)] if bar.interval else []),
        Markup('<circle cx="{:g}" cy="18" r="4"/>').format(x(bar.value)),
        tick.format("", 0, low),
        tick.format("middle", BAR_WIDTH / 2, "0"),
        tick.format("end", BAR_WIDTH, high),
    ]
    return _svg(f"difference {tone}", BAR_WIDTH, BAR_HEIGHT, text, parts)


def draw_interval(bar: Bar, text: str) -> Markup:
    """Return a value, its interval as a thick line, and its limit as a dashed one with its number."""
    low, high = bar.limits[::-1] if bar.lower_is_better else bar.limits
    span = (high - low) or 1.0

    def x(value: float) -> float:
        share = min(max((value - low) / span, 0.0), 1.0)
        return round(BAR_MARGIN + share * (BAR_WIDTH - 2 * BAR_MARGIN), 1)

    parts = [Markup('<path class="rail" d="M{:g} 10H{:g}"/>').format(BAR_MARGIN, BAR_WIDTH - BAR_MARGIN)]
    for style, ends in (("thin", bar.family_interval), ("thick", bar.interval)):
        if ends is not None:
            first, last = sorted(map(x, ends))
            parts.append(Markup('<path class="{}" d="M{:g} 10H{:g}"/>').format(style, first, last))
    if bar.reference is not None:
        at = x(bar.reference)
        parts += [
            Markup('<path class="limit" d="M{:g} 1V19"/>').format(at),
            Markup('<text class="middle" x="{:g}" y="31">{}</text>').format(
                min(max(at, 14.0), BAR_WIDTH - 14.0), minus(f"{bar.reference:.6g}")
            ),
        ]
    parts.append(Markup('<circle cx="{:g}" cy="10" r="4"/>').format(x(bar.value)))
    height = BARE_HEIGHT if bar.reference is None else INTERVAL_HEIGHT
    return _svg(f"difference {bar.tone}", BAR_WIDTH, height, text, parts)


def number_on_axis(value: float) -> str:
    """Return an end of the axis of differences, with its sign."""
    return minus(f"{value:+.6g}")


def _svg(style: str, width: float, height: float, label: str, parts: Sequence[Markup]) -> Markup:
    return Markup(
        '<svg class="{style}" role="img" width="{w:g}" height="{h:g}" viewBox="0 0 {w:g} {h:g}"'
        ' aria-label="{label}">{body}</svg>'
    ).format(style=style, w=width, h=height, label=strip_controls(label), body=Markup("").join(parts))

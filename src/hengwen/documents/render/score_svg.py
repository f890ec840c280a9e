"""Draw a line of the table of scores: its course, and its difference as a bar."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from markupsafe import Markup

from hengwen.text.numbers import minus
from hengwen.text.safety import strip_controls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hengwen.documents.blocks import Bar, Bounds, Point, ScoreLine, Series, Tone

COURSE_WIDTH, COURSE_HEIGHT = 268.0, 60.0
COURSE_LEFT, COURSE_RIGHT, COURSE_TOP, COURSE_BOTTOM = 44.0, 44.0, 14.0, 53.0
BAR_WIDTH, BAR_HEIGHT, BAR_MARGIN = 224.0, 44.0, 8.0
MAX_DOTS = 40
"""Above this number of points, only those with a mark or a tone are drawn as dots."""


def draw_course(line: ScoreLine) -> Markup:
    """Return the course of a score over the range of its intervals, with the best seen and the newest."""
    assert line.course is not None
    points = [point for point in line.course.points if point.value is not None]
    if not points:
        return Markup("")
    scale = _Scale(points)
    texts = [f"{point.label} {point.text}" for point in points]
    parts = [
        *_ends(scale, points),
        *_band(scale, line.course),
        Markup('<path class="line" d="{}"/>').format(_path(scale, points)),
    ]
    for point in sorted(points, key=lambda point: (point.mark != "", point.tone != "plain")):
        parts += _dot(scale, point, is_drawn=len(points) <= MAX_DOTS)
    parts += [_label(scale, point, points) for point in points if point.mark]
    label = f"{line.address}: {', '.join(texts)}"
    return _svg("course", COURSE_WIDTH, COURSE_HEIGHT, label, parts)


class _Scale:
    """Positions of points: x at true distances, y over the range of the intervals."""

    def __init__(self, points: Sequence[Point]) -> None:
        ends = [end for point in points for end in (point.interval or ())]
        values = [point.value for point in points if point.value is not None]
        self.low, self.high = min(ends + values), max(ends + values)
        self._first = min(point.x for point in points)
        self._span = max(point.x for point in points) - self._first

    def x(self, point: Point) -> float:
        width = COURSE_WIDTH - COURSE_LEFT - COURSE_RIGHT
        share = (point.x - self._first) / self._span if self._span else 0.5
        return round(COURSE_LEFT + share * width, 1)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(COURSE_BOTTOM - share * (COURSE_BOTTOM - COURSE_TOP), 1)


def _ends(scale: _Scale, points: Sequence[Point]) -> Iterator[Markup]:
    """Draw the axis, with the ends of its range in the decimals of the values."""
    decimals = max(len(point.text.partition(".")[2]) for point in points)
    text = Markup('<text class="tick" x="26" y="{y:g}">{text}</text>')
    yield Markup('<path class="axis" d="M30 {:g}V{:g}"/>').format(COURSE_TOP, COURSE_BOTTOM)
    yield text.format(y=COURSE_TOP + 4, text=minus(f"{scale.high:.{decimals}f}"))
    if scale.high > scale.low:
        yield text.format(y=COURSE_BOTTOM + 4, text=minus(f"{scale.low:.{decimals}f}"))


def _band(scale: _Scale, series: Series) -> Iterator[Markup]:
    """Draw the intervals of neighbouring points as a band."""
    for has_interval, group in groupby(series.points, lambda point: point.interval is not None):
        points = list(group)
        if has_interval and len(points) > 1:
            upper = [(scale.x(p), scale.y(p.interval[1])) for p in points if p.interval]
            lower = [(scale.x(p), scale.y(p.interval[0])) for p in points if p.interval]
            corners = " ".join(f"{x:g},{y:g}" for x, y in (*upper, *reversed(lower)))
            yield Markup('<polygon class="band" points="{}"/>').format(corners)


def _path(scale: _Scale, points: Sequence[Point]) -> str:
    steps = [f"M{scale.x(points[0]):g} {scale.y(points[0].value or 0.0):g}"]
    for _, point in pairwise(points):
        command = "L" if point.is_connected else "M"
        steps.append(f"{command}{scale.x(point):g} {scale.y(point.value or 0.0):g}")
    return "".join(steps)


def _dot(scale: _Scale, point: Point, *, is_drawn: bool) -> Iterator[Markup]:
    x, y = scale.x(point), scale.y(point.value or 0.0)
    if "best" in point.mark:
        size = 8.5 if "newest" in point.mark else 5.5
        yield Markup('<path class="best" d="M{x:g} {y:g}l{s:g} {s:g}l-{s:g} {s:g}l-{s:g} -{s:g}z"/>').format(
            x=x, y=round(y - size, 1), s=size
        )
    if "newest" in point.mark:
        radius = 3.2 if "best" in point.mark else 4.2
        yield Markup('<circle class="newest {}" cx="{:g}" cy="{:g}" r="{:g}"/>').format(
            point.tone, x, y, radius
        )
    elif not point.mark and point.tone == "worse":
        yield Markup('<path class="fallen" d="M{:g} {:g}h8l-4 7z"/>').format(x - 4, y - 3)
    elif not point.mark and is_drawn:
        yield Markup('<circle class="dot" cx="{:g}" cy="{:g}" r="2.2"/>').format(x, y)


def _label(scale: _Scale, point: Point, points: Sequence[Point]) -> Markup:
    """Print the value of a marked point: of the newest on its right, else off the line."""
    x, y = scale.x(point), scale.y(point.value or 0.0)
    if "newest" in point.mark:
        return Markup('<text class="value" x="{:g}" y="{:g}">{}</text>').format(
            x + (12 if "best" in point.mark else 9), y + 4, minus(point.text)
        )
    index = points.index(point)
    beside = [
        scale.y(other.value or 0.0) for other in points[max(index - 1, 0) : index + 2] if other != point
    ]
    is_above = all(other >= y - 1 for other in beside) or y > (COURSE_TOP + COURSE_BOTTOM) / 2
    offset = -9 if is_above else 18
    return Markup('<text class="value middle {}" x="{:g}" y="{:g}">{}</text>').format(
        point.mark, x, y + offset, minus(point.text)
    )


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
        *([stroke("thin", wide)] if wide else []),
        *([stroke("thick", bar.interval)] if bar.interval else []),
        Markup('<circle cx="{:g}" cy="18" r="4"/>').format(x(bar.value)),
        tick.format("", 0, low),
        tick.format("middle", BAR_WIDTH / 2, "0"),
        tick.format("end", BAR_WIDTH, high),
    ]
    return _svg(f"difference {tone}", BAR_WIDTH, BAR_HEIGHT, text, parts)


def number_on_axis(value: float) -> str:
    """Return an end of the axis of differences, with its sign."""
    return minus(f"{value:+.6g}")


def _svg(style: str, width: float, height: float, label: str, parts: Sequence[Markup]) -> Markup:
    return Markup(
        '<svg class="{style}" role="img" width="{w:g}" height="{h:g}" viewBox="0 0 {w:g} {h:g}"'
        ' aria-label="{label}">{body}</svg>'
    ).format(style=style, w=width, h=height, label=strip_controls(label), body=Markup("").join(parts))

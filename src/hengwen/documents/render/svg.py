"""Draw charts as inline SVG. Colours come from the page's style sheet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, pairwise, takewhile
from math import ceil, floor, log10
from typing import NamedTuple
from unicodedata import east_asian_width

from markupsafe import Markup

from hengwen.documents.blocks import Bar, Bounds, Chart, Point, ScoreLine, Series, Tone
from hengwen.documents.render.words import MAX_NARROW, cut_name, is_broad
from hengwen.text.language import Language, in_language
from hengwen.text.numbers import minus, number, strip_controls


class Spot(NamedTuple):
    """A point of a series with its place in the chart."""

    point: Point
    x: float
    y: float | None
    """None if the point has no value."""
    top: float | None = None
    """Upper end of the interval."""
    bottom: float | None = None


def spots_of(points: Iterable[Point], x: Callable[[float], float], y: Callable[[float], float]) -> list[Spot]:
    """Return points with their places; ``x`` and ``y`` give the place of a value."""
    return [
        Spot(
            point,
            x(point.x),
            None if point.value is None else y(point.value),
            y(point.interval[1]) if point.interval else None,
            y(point.interval[0]) if point.interval else None,
        )
        for point in points
    ]


def marks_last(spots: Iterable[Spot]) -> list[Spot]:
    """Return spots so that those that matter most are drawn over the others."""
    return sorted(spots, key=lambda spot: (bool(spot.point.mark), spot.point.tone != "plain"))


def hint(point: Point, language: Language) -> str:
    """Return what a point is, for a pointer or a screen reader."""
    return in_language(point.hint, language) or f"{point.label} {point.text}".strip()


def band(spots: Sequence[Spot]) -> Iterator[Markup]:
    """Draw the intervals of neighbouring points as a band, and that of a single one as a bar."""
    for has_interval, group in groupby(spots, lambda spot: spot.top is not None and spot.bottom is not None):
        run = list(group)
        if has_interval and len(run) > 1:
            corners = [(spot.x, spot.top) for spot in run] + [(spot.x, spot.bottom) for spot in reversed(run)]
            text = " ".join(f"{x:g},{y:g}" for x, y in corners)
            yield Markup('<polygon class="band" points="{}"/>').format(text)
        elif has_interval:
            yield Markup('<path class="bar" d="M{:g} {:g}V{:g}"/>').format(
                run[0].x, run[0].top, run[0].bottom
            )


def line(spots: Sequence[Spot], style: str) -> Markup:
    """Draw the line of a series; it has a gap where a value is missing or the settings changed."""
    steps, is_open = [], False
    for spot in spots:
        if spot.y is not None:
            steps.append(f"{'L' if is_open and spot.point.is_connected else 'M'}{spot.x:g} {spot.y:g}")
        is_open = spot.y is not None
    return Markup('<path class="{}" d="{}"/>').format(style, "".join(steps)) if steps else Markup("")


def mark(spot: Spot, floor: float, language: Language, *, is_small: bool = False) -> Markup:
    """Draw one point: best seen, newest, fallen, or a dot; a cross at the floor if it has no value."""
    point, x, y = spot.point, spot.x, spot.y
    title = Markup("<title>{}</title>").format(strip_controls(hint(point, language)))
    if y is None:
        cross = Markup('<g class="missing">{}<path d="M{:g} {:g}l8 8m0 -8l-8 8"/></g>')
        return cross.format(title, x - 4, floor - 12)
    shapes = []
    if "best" in point.mark:
        size = 8.5 if "newest" in point.mark else 5.5
        diamond = Markup('<path class="best" d="M{x:g} {y:g}l{s:g} {s:g}l-{s:g} {s:g}l-{s:g} -{s:g}z"/>')
        shapes.append(diamond.format(x=x, y=round(y - size, 1), s=size))
    if "newest" in point.mark:
        radius = 3.2 if "best" in point.mark else 4.2
        shapes.append(Markup('<circle class="newest" cx="{:g}" cy="{:g}" r="{:g}"/>').format(x, y, radius))
    if not point.mark and point.tone in ("better", "worse"):
        up = 1 if point.tone == "better" else -1
        triangle = Markup('<path class="moved" d="M{:g} {:g}l-4 {:g}h8z"/>')
        shapes.append(triangle.format(x, round(y - up * 4, 2), up * 7))
    elif not point.mark:
        radius = 1.2 if is_small else 2.4
        shapes.append(Markup('<circle class="dot" cx="{:g}" cy="{:g}" r="{:g}"/>').format(x, y, radius))
    group = Markup('<g class="point {}">{}{}</g>')
    return group.format(point.tone, title, Markup("").join(shapes))


def value_label(spots: Sequence[Spot], index: int, room: tuple[float, float], width: float) -> Markup:
    """Print the value of a point where the line does not go: beside the last, above or below another."""
    spot = spots[index]
    text = strip_controls(spot.point.text)
    if spot.y is None or not text:
        return Markup("")
    style = "value best" if spot.point.mark == "best" else "value"
    label = Markup('<text class="{}" x="{:g}" y="{:g}">{}</text>')
    aside = 12 if "best" in spot.point.mark else 9
    if index == len(spots) - 1 and len(spots) > 1 and spot.x + aside + 7 * len(text) <= width:
        return label.format(f"{style} after", spot.x + aside, round(spot.y + 4, 2), text)
    around = spots[max(index - 1, 0) : index + 2]
    neighbours = [other.y - spot.y for other in around if other is not spot and other.y is not None]
    if len(neighbours) == 2 and neighbours[0] * neighbours[1] < 0:  # above, on the outer side of a slope
        side, shift = ("before", -3) if neighbours[0] > 0 else ("after", 3)
        return label.format(f"{style} {side}", spot.x + shift, round(spot.y - 7, 2), text)
    is_above = sum(neighbours) >= 0
    y = spot.y - 9 if is_above else spot.y + 15
    if not room[0] <= y <= room[1]:
        y = spot.y + 15 if is_above else spot.y - 9
    return label.format(style, spot.x, round(y, 2), text)


WIDTH, WIDE_WIDTH, HEIGHT = 356.0, 1120.0, 222.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 34.0, 24.0, 56.0
LANE_HEIGHT = 66.0
"""Height of the lane of a judge's anchors, below the chart."""
NARROW, WIDE = 6.6, 12.0
"""Estimated width of a Latin and of a full-width character, in SVG user units."""
NAME_WIDTH = 84.0
"""Maximum width of the name of a checkpoint, in SVG user units."""
MIN_VALUE_SPACING = 40.0
"""Minimum distance between points, in SVG user units, at which the value of every point is printed."""
MAX_NAMES = 10
"""Above this number of points, only the first, the best seen, the newest and every tenth are named."""


class Axis(NamedTuple):
    """The vertical axis: its range, its ticks, and its place."""

    low: float
    high: float
    ticks: tuple[float, ...]
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM

    @property
    def decimals(self) -> int:
        """Number of decimals of the ticks: two digits of the range, one more where a round tick has it."""
        decimals = max(0, 1 - floor(log10(self.high - self.low)))
        return decimals + any(round(tick, decimals) != tick for tick in self.ticks[1:-1])

    def y(self, value: float) -> float:
        """Return the vertical position of a value, clamped to the plot."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.bottom - share * (self.bottom - self.top), 2)


def axis_for(values: Iterable[float], limits: tuple[float, float] | None = None) -> Axis:
    """Return an axis over the range of the values, which ends at its ends, with round ticks between them."""
    values = list(values)
    low, high = (min(values), max(values)) if values else limits or (0.0, 1.0)
    if limits:
        low, high = (min(max(end, limits[0]), limits[1]) for end in (low, high))
    if high - low < 1e-9 * max(abs(low), abs(high), 1e-9):
        margin = (limits[1] - limits[0]) / 20 if limits else max(abs(low), 1.0) / 10
        low, high = low - margin, high + margin
    step = tick_step(high - low)
    inner = [round(i * step, 9) + 0.0 for i in range(ceil(low / step), floor(high / step) + 1)]
    room = 0.14 * (high - low)  # two labels need this distance
    return Axis(low, high, (low, *(tick for tick in inner if low + room <= tick <= high - room), high))


def tick_step(span: float, max_steps: float = 4) -> float:
    """Return the smallest of 1, 2, 2.5, 4, 5 times a power of ten that gives at most ``max_steps`` steps."""
    unit: float = 10.0 ** floor(log10(span / max_steps))
    return next(unit * f for f in (1, 2, 2.5, 4, 5, 10) if span / (unit * f) <= max_steps * (1 + 1e-9))


def text_width(text: str) -> float:
    """Return the estimated width of a text in the font size of axis labels."""
    return sum(WIDE if east_asian_width(c) in "WF" else NARROW for c in text)


def truncate(text: str, max_width: float) -> str:
    """Return the text, cut with an ellipsis if it is wider than ``max_width``."""
    text = strip_controls(text).replace("\n", " ")
    if text_width(text) <= max_width:
        return text
    ends = accumulate(text_width(c) for c in text)
    length = sum(1 for _ in takewhile(lambda end: end + NARROW <= max_width, ends))
    return text[:length].rstrip() + "…"


def draw_chart(chart: Chart, language: Language) -> Markup:
    """Return a chart of values with their intervals; the lane of a judge's anchors stands below it."""
    points = [point for series in chart.series for point in series.points]
    if not points:
        raise ValueError("a chart needs at least one point")
    width = WIDE_WIDTH if is_broad(chart) else WIDTH
    axis = axis_for(_ends(points), chart.limits)
    xs = x_positions((point.x for point in points), width)
    spacing = min((b - a for a, b in pairwise(xs.values())), default=width)
    parts = [*_grid(axis, width), *_names(points, xs, width)]
    for i, series in enumerate(chart.series):
        spots = spots_of(series.points, xs.__getitem__, axis.y)
        parts += [*band(spots), line(spots, f"line s{i % 4}")]
        parts += (mark(spot, axis.bottom, language, is_small=spacing < 6) for spot in marks_last(spots))
        if len(chart.series) > 1:
            parts.append(_series_name(series, spots))
        else:
            parts += _values(spots, width, is_crowded=spacing < MIN_VALUE_SPACING)
    height = HEIGHT
    if chart.lane is not None and chart.lane.points:
        parts += _lane(chart.lane, in_language(chart.lane_title, language), xs, width, language)
        height += LANE_HEIGHT
    return _framed(chart, points, parts, width, height, language)


def _framed(
    chart: Chart,
    points: Sequence[Point],
    parts: Iterable[Markup],
    width: float,
    height: float,
    language: Language,
) -> Markup:
    """Return the drawing with its title, and with its description for readers who do not see it."""
    description = in_language(chart.description, language) or "; ".join(hint(p, language) for p in points)
    return Markup(
        '<svg class="chart" role="img" width="{w:g}" height="{h:g}" viewBox="0 0 {w:g} {h:g}"'
        ' aria-labelledby="{key}-t {key}-d"><title id="{key}-t">{title}</title>'
        '<desc id="{key}-d">{description}</desc>{body}</svg>'
    ).format(
        w=width,
        h=height,
        key=chart.key,
        title=strip_controls(in_language(chart.title, language)),
        description=strip_controls(description),
        body=Markup("").join(parts),
    )


def _ends(points: Iterable[Point]) -> list[float]:
    return [value for p in points for value in (p.value, *(p.interval or ())) if value is not None]


def x_positions(values: Iterable[float], width: float = WIDTH) -> dict[float, float]:
    """Return the horizontal position of each value, at true distances, from left to right."""
    ordered = sorted(set(values))
    if len(ordered) == 1:
        return {ordered[0]: (LEFT + width - RIGHT) / 2}
    inset = min(24.0, (width - LEFT - RIGHT) / (2 * len(ordered)))
    scale = (width - LEFT - RIGHT - 2 * inset) / (ordered[-1] - ordered[0])
    return {value: round(LEFT + inset + (value - ordered[0]) * scale, 2) for value in ordered}


def _grid(axis: Axis, width: float) -> list[Markup]:
    rule = Markup(
        '<line class="grid" x1="{x1:g}" x2="{x2:g}" y1="{y:g}" y2="{y:g}"/>'
        '<text class="tick" x="{tx:g}" y="{ty:g}">{text}</text>'
    )
    return [
        rule.format(
            x1=LEFT,
            x2=width - RIGHT,
            y=axis.y(tick),
            tx=LEFT - 8,
            ty=axis.y(tick) + 4,
            text=minus(number(tick, axis.decimals)),
        )
        for tick in axis.ticks
    ]


def _names(points: Sequence[Point], xs: Mapping[float, float], width: float) -> Iterator[Markup]:
    """Draw the names of checkpoints in two rows below the axis, those that matter most first."""
    by_x: dict[float, Point] = {}
    for point in points:
        by_x.setdefault(point.x, point)
    ordered = [by_x[x] for x in xs]
    if len(ordered) > MAX_NAMES:
        last = len(ordered) - 1
        weights = [
            0 if i in (0, last) else 1 if "best" in point.mark else 2 if i % 10 == 0 else 3
            for i, point in enumerate(ordered)
        ]
        order = [i for i in sorted(range(len(ordered)), key=weights.__getitem__) if weights[i] < 3]
    else:
        order = list(range(len(ordered)))
    taken: dict[int, list[tuple[float, float]]] = {0: [], 1: []}
    for i in order:
        text = cut_name(ordered[i].label, NAME_WIDTH, text_width)
        half = text_width(text) / 2
        x = min(max(xs[ordered[i].x], half), width - half)
        row = next(
            (r for r in taken if all(x + half + 6 <= a or x - half - 6 >= b for a, b in taken[r])), None
        )
        if row is not None:
            taken[row].append((x - half, x + half))
            name = Markup('<text class="name" x="{:g}" y="{:g}">{}</text>')
            yield name.format(round(x, 2), HEIGHT - BOTTOM + 32 + 15 * row, text)


def _lane(
    lane: Series, name: str, xs: Mapping[float, float], width: float, language: Language
) -> list[Markup]:
    """Draw the judge's anchors on the same x, over their own range."""
    points = [point for point in lane.points if point.x in xs]
    axis = axis_for(_ends(points))._replace(top=HEIGHT + 16, bottom=HEIGHT + LANE_HEIGHT - 8)
    ends = axis._replace(ticks=(axis.low, axis.high))
    spots = spots_of(lane.points, xs.__getitem__, axis.y)
    title = Markup('<text class="lane" x="{:g}" y="{:g}">{}</text>').format(
        LEFT, HEIGHT + 4, truncate(name, width - LEFT)
    )
    marks = [mark(spot, axis.bottom, language) for spot in spots]
    return [title, *_grid(ends, width), *band(spots), line(spots, "line s1"), *marks]


def _series_name(series: Series, spots: Sequence[Spot]) -> Markup:
    """Print the name of a series above its last value."""
    ends = [spot for spot in spots if spot.y is not None]
    if not ends:
        return Markup("")
    label = Markup('<text class="series" x="{x:g}" y="{y:g}">{text}</text>')
    text = truncate(series.name, (WIDTH - LEFT) / 2)
    return label.format(x=ends[-1].x + RIGHT / 2, y=round((ends[-1].y or 0.0) - 8, 2), text=text)


def _values(spots: Sequence[Spot], width: float, *, is_crowded: bool) -> list[Markup]:
    """Print the values; if points are close, only those of marked points, the lowest and the highest."""
    scored = [spot for spot in spots if spot.y is not None]
    heights = [spot.y for spot in scored if spot.y is not None]
    ends = {heights.index(end(heights)) for end in (min, max)} if heights else set()
    return [
        value_label(scored, i, (12.0, HEIGHT - BOTTOM + 16), width)
        for i, spot in enumerate(scored)
        if not is_crowded
        or spot.point.mark
        or i == len(scored) - 1
        or (len(scored) <= MAX_NARROW and i in ends)
    ]


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

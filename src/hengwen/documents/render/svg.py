"""Draw charts as inline SVG. Colours come from the page's style sheet."""

from __future__ import annotations

from itertools import accumulate, pairwise, takewhile
from math import ceil, floor, log10
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import east_asian_width

from markupsafe import Markup

from hengwen.documents.render.marks_svg import Spot, band, hint, line, mark, marks_last, spots_of, value_label
from hengwen.documents.render.words import MAX_NARROW, cut_name, is_broad
from hengwen.text.language import in_language
from hengwen.text.numbers import minus, number
from hengwen.text.safety import strip_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hengwen.documents.blocks import Chart, Point, Series
    from hengwen.text.language import Language

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

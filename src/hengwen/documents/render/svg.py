"""Draw charts as inline SVG. Colours come from the page's style sheet."""

from __future__ import annotations

from itertools import accumulate, pairwise, takewhile
from math import ceil, floor, log10
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import east_asian_width

from markupsafe import Markup

from hengwen.text.language import in_language
from hengwen.text.numbers import number
from hengwen.text.safety import strip_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hengwen.documents.blocks import Chart, Point, Series, Tone
    from hengwen.text.language import Language

WIDTH, HEIGHT = 356.0, 200.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 16.0, 24.0, 34.0
NARROW, WIDE = 6.6, 12.0
"""Estimated width of a Latin and of a full-width character, in SVG user units."""
NAME_WIDTH = 84.0
"""Maximum width of the name of a checkpoint, in SVG user units."""
MIN_VALUE_SPACING = 40.0
"""Minimum distance between points, in SVG user units, at which the value of every point is printed."""


class Axis(NamedTuple):
    """The vertical axis: its range and ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @property
    def decimals(self) -> int:
        """Smallest number of decimals with which every tick is printed exactly."""
        return next((d for d in range(9) if all(abs(round(t, d) - t) < 1e-9 for t in self.ticks)), 9)

    def y(self, value: float) -> float:
        """Return the vertical position of a value, clamped to the plot."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)


def axis_for(values: Iterable[float], limits: tuple[float, float] | None = None) -> Axis:
    """Return an axis: the whole scale if the values span at least half of it, otherwise only their range."""
    values = list(values)
    if not values:
        low, high = limits or (0.0, 1.0)
    else:
        low, high = min(values), max(values)
        if limits:
            low, high = max(low, limits[0]), min(high, limits[1])
            low, high = min(low, limits[1]), max(high, limits[0])
        if limits and (high - low) >= (limits[1] - limits[0]) / 2:
            low, high = limits
        elif high - low < 1e-9 * max(abs(low), abs(high), 1e-9):
            margin = (limits[1] - limits[0]) / 20 if limits else max(abs(low), 1.0) / 10
            low, high = low - margin, high + margin
    return _rounded(low, high, limits)


def _rounded(low: float, high: float, limits: tuple[float, float] | None) -> Axis:
    """Return an axis with round ticks that starts and ends at a tick, or at an end of the scale."""
    step = tick_step(high - low, 4.5 if limits == (low, high) else 4)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    digits = 3 - floor(log10(step))
    ticks = [round(i * step, digits) + 0.0 for i in range(first, last + 1)]
    low, high = ticks[0], ticks[-1]
    if limits:
        low, high = max(low, limits[0]), min(high, limits[1])
        ticks = [tick for tick in ticks if low <= tick <= high]
    return Axis(low, high, tuple(ticks))


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
    """Return a chart of values with their intervals."""
    points = [point for series in chart.series for point in series.points]
    if not points:
        raise ValueError("a chart needs at least one point")
    values = [v for p in points for v in (p.value, *(p.interval or ())) if v is not None]
    axis = axis_for(values, chart.limits)
    xs = x_positions(point.x for point in points)
    spacing = min((b - a for a, b in pairwise(xs.values())), default=WIDTH)
    description = in_language(chart.description, language) or "; ".join(_hint(p, language) for p in points)
    parts = [
        Markup('<title id="{0}-t">{1}</title><desc id="{0}-d">{2}</desc>').format(
            chart.key, strip_controls(in_language(chart.title, language)), strip_controls(description)
        ),
        *_grid(axis),
        *_names(points, xs),
    ]
    for i, series in enumerate(chart.series):
        radius = 4.2 if spacing >= 16 else 2.8
        parts += [
            _line(series, xs, axis, f"line s{i % 4}"),
            *(_mark(point, xs[point.x], axis, radius, language) for point in series.points),
        ]
        if len(chart.series) > 1:
            parts.append(_series_name(series, xs, axis))
        else:
            parts += _values(series.points, xs, axis, is_crowded=spacing < MIN_VALUE_SPACING)
    return Markup(
        '<svg class="chart" role="img" width="{w:g}" height="{h:g}" viewBox="0 0 {w:g} {h:g}"'
        ' aria-labelledby="{key}-t {key}-d">{body}</svg>'
    ).format(w=WIDTH, h=HEIGHT, key=chart.key, body=Markup("").join(parts))


def x_positions(values: Iterable[float]) -> dict[float, float]:
    """Return the horizontal position of each value, at true distances, from left to right."""
    ordered = sorted(set(values))
    if len(ordered) == 1:
        return {ordered[0]: (LEFT + WIDTH - RIGHT) / 2}
    inset = min(32.0, (WIDTH - LEFT - RIGHT) / (2 * len(ordered)))
    scale = (WIDTH - LEFT - RIGHT - 2 * inset) / (ordered[-1] - ordered[0])
    return {value: round(LEFT + inset + (value - ordered[0]) * scale, 2) for value in ordered}


def _hint(point: Point, language: Language) -> str:
    return in_language(point.hint, language) or f"{point.label} {point.text}".strip()


def _grid(axis: Axis) -> list[Markup]:
    line = Markup(
        '<line class="grid" x1="{x1:g}" x2="{x2:g}" y1="{y:g}" y2="{y:g}"/>'
        '<text class="tick" x="{tx:g}" y="{ty:g}">{text}</text>'
    )
    return [
        line.format(
            x1=LEFT,
            x2=WIDTH - RIGHT,
            y=round(axis.y(t), 2),
            tx=LEFT - 8,
            ty=round(axis.y(t) + 3.8, 2),
            text=number(t, axis.decimals),
        )
        for t in axis.ticks
    ]


def _names(points: Sequence[Point], xs: dict[float, float]) -> list[Markup]:
    """Draw the names of checkpoints below the axis; leave out names at regular steps if they do not fit."""
    labels = {point.x: point.label for point in points}
    slot = (WIDTH - LEFT - RIGHT) / len(xs)
    width = min(max(map(text_width, labels.values())), NAME_WIDTH) + 8
    every = max(1, ceil(min(width, 66.0) / slot))
    name = Markup('<text class="name" x="{x:g}" y="{y:g}">{text}</text>')
    drawn, end = [], 0.0
    for x, label in list(zip(xs.values(), (labels[value] for value in xs), strict=True))[::every]:
        text = truncate(label, slot * every - 6)
        if x - text_width(text) / 2 >= end:  # points may be nearer to each other than regular steps
            drawn.append(name.format(x=x, y=HEIGHT - BOTTOM + 20, text=text))
            end = x + text_width(text) / 2 + 4
    return drawn


def _line(series: Series, xs: dict[float, float], axis: Axis, style: str) -> Markup:
    """Draw the line of a series; it has a gap where a value is missing or the settings changed."""
    path, is_open = [], False
    for point in series.points:
        if point.value is None:
            is_open = False
            continue
        command = "L" if is_open and point.is_connected else "M"
        path.append(f"{command}{xs[point.x]:g} {axis.y(point.value):.2f}")
        is_open = True
    return Markup('<path class="{}" d="{}"/>').format(style, " ".join(path)) if path else Markup("")


def _mark(point: Point, x: float, axis: Axis, radius: float, language: Language) -> Markup:
    """Draw one point with its interval, or a cross at the bottom if there is no value."""
    hint = Markup("<title>{}</title>").format(strip_controls(_hint(point, language)))
    if point.value is None:
        y = HEIGHT - BOTTOM - 8
        return Markup(
            '<g class="missing">{hint}<path d="M{a:g} {c:g}L{b:g} {d:g}M{a:g} {d:g}L{b:g} {c:g}"/></g>'
        ).format(hint=hint, a=x - 4, b=x + 4, c=y - 4, d=y + 4)
    bar = Markup("")
    if point.interval:
        low, high = axis.y(point.interval[0]), axis.y(point.interval[1])
        bar = Markup(
            '<path class="bar" d="M{x:g} {h:.2f}V{l:.2f}M{a:g} {h:.2f}H{b:g}M{a:g} {l:.2f}H{b:g}"/>'
        ).format(x=x, h=high, l=low, a=x - 4, b=x + 4)
    return Markup('<g class="point {tone}">{hint}{bar}{shape}</g>').format(
        tone=point.tone, hint=hint, bar=bar, shape=_shape(point.tone, x, axis.y(point.value), radius)
    )


def _shape(tone: Tone, x: float, y: float, radius: float) -> Markup:
    """Draw a triangle for a point that is better or worse, else a circle."""
    if tone not in ("better", "worse"):
        return Markup('<circle cx="{x:g}" cy="{y:.2f}" r="{r:g}"/>').format(x=x, y=y, r=radius)
    up = 1 if tone == "better" else -1
    return Markup('<path d="M{x:g} {tip:.2f}l-{half:g} {tall:g}h{wide:g}z"/>').format(
        x=x, tip=y - up * 1.3 * radius, half=1.3 * radius, wide=2.6 * radius, tall=up * 2.2 * radius
    )


def _series_name(series: Series, xs: dict[float, float], axis: Axis) -> Markup:
    """Print the name of a series above its last value."""
    ends = [(xs[point.x], point.value) for point in series.points if point.value is not None]
    if not ends:
        return Markup("")
    x, value = ends[-1]
    label = Markup('<text class="series" x="{x:g}" y="{y:.2f}">{text}</text>')
    return label.format(x=x + RIGHT / 2, y=axis.y(value) - 8, text=truncate(series.name, (WIDTH - LEFT) / 2))


def _values(points: Sequence[Point], xs: dict[float, float], axis: Axis, *, is_crowded: bool) -> list[Markup]:
    """Print values above their intervals; if points are close, only the lowest, the highest and the last."""
    scored = [(point, point.value) for point in points if point.value is not None]
    values = [value for _, value in scored]
    label = Markup('<text class="value" x="{x:g}" y="{y:.2f}">{text}</text>')
    return [
        label.format(
            x=xs[point.x],
            y=axis.y(point.interval[1] if point.interval else value) - 8,
            text=strip_controls(point.text),
        )
        for i, (point, value) in enumerate(scored)
        if not is_crowded or i == len(scored) - 1 or value in (min(values), max(values))
    ]

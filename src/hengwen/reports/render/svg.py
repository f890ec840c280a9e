"""Draw line charts as inline SVG. Colours come from the page's style sheet."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, takewhile
from math import ceil, floor, log10
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import east_asian_width

from markupsafe import Markup

from hengwen.text.numbers import number
from hengwen.text.safety import strip_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH, HEIGHT = 480.0, 236.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 16.0, 24.0, 34.0
NARROW, WIDE = 6.3, 11.0
"""Estimated width of a Latin and of a full-width character, in SVG user units."""
MIN_VALUE_SPACING = 40.0
"""Minimum distance between points, in SVG user units, at which the value of every point is printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One checkpoint on the chart."""

    label: str
    mean: float | None
    interval: tuple[float, float] | None = None
    text: str = ""
    """The mean as it is printed."""
    hint: str = ""
    """Tooltip and text for screen readers, with the full name, mean and interval."""
    joined: bool = True
    """Whether a line connects this point with the previous point; True if both were scored with the
    same settings."""
    flagged: bool = False
    """Whether the point is marked, because the score changed significantly for the worse."""


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


def line_chart(
    points: Sequence[Point],
    *,
    key: str,
    title: str,
    description: str,
    limits: tuple[float, float] | None = None,
) -> Markup:
    """Return a chart of means with their intervals over checkpoints."""
    if not points:
        raise ValueError("a chart needs at least one point")
    values = [v for p in points for v in (p.mean, *(p.interval or ())) if v is not None]
    axis = axis_for(values, limits)
    xs = x_positions(len(points))
    radius = 4.2 if len(points) < 2 or xs[1] - xs[0] >= 16 else 2.8
    parts = [
        Markup('<title id="{0}-t">{1}</title><desc id="{0}-d">{2}</desc>').format(
            key, strip_controls(title), strip_controls(description)
        ),
        *_grid(axis),
        *_names(points, xs),
        _line(points, xs, axis),
        *(_mark(point, x, axis, radius) for point, x in zip(points, xs, strict=True)),
        *_values(points, xs, axis),
    ]
    return Markup(
        '<svg class="chart" role="img" viewBox="0 0 {w:g} {h:g}"'
        ' aria-labelledby="{key}-t {key}-d">{body}</svg>'
    ).format(w=WIDTH, h=HEIGHT, key=key, body=Markup("").join(parts))


def x_positions(n: int) -> list[float]:
    """Return ``n`` evenly spaced positions inside the plot."""
    if n == 1:
        return [(LEFT + WIDTH - RIGHT) / 2]
    inset = min(40.0, (WIDTH - LEFT - RIGHT) / (2 * n))
    step = (WIDTH - LEFT - RIGHT - 2 * inset) / (n - 1)
    return [round(LEFT + inset + i * step, 2) for i in range(n)]


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


def _names(points: Sequence[Point], xs: Sequence[float]) -> list[Markup]:
    """Draw the names of checkpoints below the axis; leave out names at regular steps if they do not fit."""
    slot = xs[1] - xs[0] if len(xs) > 1 else WIDTH - LEFT - RIGHT
    width = min(max(text_width(p.label) for p in points), 84.0) + 8
    every = max(1, ceil(min(width, 66.0) / slot))
    max_width = slot * every - 6
    name = Markup('<text class="name" x="{x:g}" y="{y:g}">{text}</text>')
    return [
        name.format(x=x, y=HEIGHT - BOTTOM + 20, text=truncate(point.label, max_width))
        for i, (point, x) in enumerate(zip(points, xs, strict=True))
        if i % every == 0
    ]


def _line(points: Sequence[Point], xs: Sequence[float], axis: Axis) -> Markup:
    """Draw the line; it has a gap where a mean is missing or the settings of the scorer changed."""
    path, connected = [], False
    for point, x in zip(points, xs, strict=True):
        if point.mean is None:
            connected = False
            continue
        path.append(f"{'L' if connected and point.joined else 'M'}{x:g} {axis.y(point.mean):.2f}")
        connected = True
    return Markup('<path class="line" d="{}"/>').format(" ".join(path)) if path else Markup("")


def _mark(point: Point, x: float, axis: Axis, radius: float) -> Markup:
    """Draw one point with its interval, or a cross at the bottom if there is no mean."""
    hint = Markup("<title>{}</title>").format(strip_controls(point.hint or point.label))
    if point.mean is None:
        y = HEIGHT - BOTTOM - 8
        return Markup(
            '<g class="none">{hint}<path d="M{a:g} {c:g}L{b:g} {d:g}M{a:g} {d:g}L{b:g} {c:g}"/></g>'
        ).format(hint=hint, a=x - 4, b=x + 4, c=y - 4, d=y + 4)
    bar = Markup("")
    if point.interval:
        low, high = axis.y(point.interval[0]), axis.y(point.interval[1])
        bar = Markup(
            '<path class="bar" d="M{x:g} {h:.2f}V{l:.2f}M{a:g} {h:.2f}H{b:g}M{a:g} {l:.2f}H{b:g}"/>'
        ).format(x=x, h=high, l=low, a=x - 4, b=x + 4)
    shape = Markup('<circle cx="{x:g}" cy="{y:.2f}" r="{r:g}"/>')
    if point.flagged:
        shape = Markup('<path d="M{x:g} {foot:.2f}l-{half:g} -{tall:g}h{wide:g}z"/>')
    y = axis.y(point.mean)
    return Markup('<g class="{kind}">{hint}{bar}{shape}</g>').format(
        kind="point flagged" if point.flagged else "point",
        hint=hint,
        bar=bar,
        shape=shape.format(
            x=x, y=y, r=radius, foot=y + 1.3 * radius, half=1.3 * radius, wide=2.6 * radius, tall=2.2 * radius
        ),
    )


def _values(points: Sequence[Point], xs: Sequence[float], axis: Axis) -> list[Markup]:
    """Print means above their intervals; if points are close together, only the lowest, highest and last."""
    means = [p.mean for p in points if p.mean is not None]
    spacious = len(xs) < 2 or xs[1] - xs[0] >= MIN_VALUE_SPACING
    last = max((i for i, p in enumerate(points) if p.mean is not None), default=-1)
    label = Markup('<text class="value" x="{x:g}" y="{y:.2f}">{text}</text>')
    return [
        label.format(x=x, y=axis.y(point.interval[1] if point.interval else point.mean) - 8, text=point.text)
        for i, (point, x) in enumerate(zip(points, xs, strict=True))
        if point.mean is not None and (spacious or i == last or point.mean in (min(means), max(means)))
    ]

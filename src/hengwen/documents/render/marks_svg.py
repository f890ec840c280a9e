"""What charts of all sizes have in common: bands, lines, marks of points and their values."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from hengwen.text.language import in_language
from hengwen.text.safety import strip_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hengwen.documents.blocks import Point
    from hengwen.text.language import Language


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

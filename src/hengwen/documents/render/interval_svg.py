"""Draw the cell of a table as a value with its interval, beside a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from hengwen.text.numbers import minus
from hengwen.text.safety import strip_controls

if TYPE_CHECKING:
    from hengwen.documents.blocks import Bar

WIDTH, HEIGHT, MARGIN = 224.0, 32.0, 8.0
BARE_HEIGHT = 20.0
"""Height without a limit, whose number stands below the line."""


def draw_interval(bar: Bar, text: str) -> Markup:
    """Return a value, its interval as a thick line, and its limit as a dashed one with its number."""
    low, high = bar.limits[::-1] if bar.lower_is_better else bar.limits
    span = (high - low) or 1.0

    def x(value: float) -> float:
        share = min(max((value - low) / span, 0.0), 1.0)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    parts = [Markup('<path class="rail" d="M{:g} 10H{:g}"/>').format(MARGIN, WIDTH - MARGIN)]
    for style, ends in (("thin", bar.family_interval), ("thick", bar.interval)):
        if ends is not None:
            first, last = sorted(map(x, ends))
            parts.append(Markup('<path class="{}" d="M{:g} 10H{:g}"/>').format(style, first, last))
    if bar.reference is not None:
        at = x(bar.reference)
        parts += [
            Markup('<path class="limit" d="M{:g} 1V19"/>').format(at),
            Markup('<text class="middle" x="{:g}" y="31">{}</text>').format(
                min(max(at, 14.0), WIDTH - 14.0), minus(f"{bar.reference:.6g}")
            ),
        ]
    parts.append(Markup('<circle cx="{:g}" cy="10" r="4"/>').format(x(bar.value)))
    return Markup(
        '<svg class="difference {}" role="img" width="{w:g}" height="{h:g}" viewBox="0 0 {w:g} {h:g}"'
        ' aria-label="{}">{}</svg>'
    ).format(
        bar.tone,
        strip_controls(text),
        Markup("").join(parts),
        w=WIDTH,
        h=BARE_HEIGHT if bar.reference is None else HEIGHT,
    )

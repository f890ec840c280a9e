"""The chart of one score: turn the view's numbers into points with labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.reports.render.svg import Point, line_chart
from hengwen.reports.text.numbers import interval, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from hengwen.reports.view.cells import ScoreCell
    from hengwen.reports.view.models import ScoreView


def score_chart(score: ScoreView, labels: Sequence[str], key: str) -> Markup:
    """Return the chart of a score over the checkpoints.

    Args:
        score: The score to draw.
        labels: One per run.
        key: Unique in the page.
    """
    points = [_point(score, labels, i) for i in range(len(labels))]
    limits = (score.scale.low, score.scale.high) if score.scale else None
    return line_chart(
        points,
        key=key,
        title=f"{score.address}: mean at each checkpoint",
        description="; ".join(point.hint for point in points),
        limits=limits,
    )


def _point(score: ScoreView, labels: Sequence[str], i: int) -> Point:
    cell = score.cells[i]
    if cell is None or cell.mean is None:
        return Point(label=labels[i], mean=None, hint=f"{labels[i]}: no score")
    mean = number(cell.mean, score.decimals)
    bounds = f" {interval(cell.interval, score.decimals)}" if cell.interval else ""
    return Point(
        label=labels[i],
        mean=cell.mean,
        interval=cell.interval,
        text=mean,
        hint=f"{labels[i]}: {mean}{bounds}, {cell.counts_in_words}",
        joined=_same_signatures(score.cells[i - 1] if i else None, cell),
        flagged=i in score.drops,
    )


def _same_signatures(previous: ScoreCell | None, cell: ScoreCell) -> bool:
    return previous is not None and previous.signatures == cell.signatures and len(cell.signatures) == 1

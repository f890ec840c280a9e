"""The chart of one score: from the view to numbers and words for the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hengwen.reports.render.svg import Point, line_chart
from hengwen.reports.text.numbers import interval, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from hengwen.reports.view.cells import ScoreCell
    from hengwen.reports.view.findings import Drop
    from hengwen.reports.view.models import ScoreView


def score_chart(score: ScoreView, labels: Sequence[str], key: str) -> Markup:
    """Return the chart of a score over the checkpoints.

    Args:
        score: What to draw.
        labels: One a run.
        key: Distinct in the page.
    """
    points = [_point(score, labels, i) for i in range(len(labels))]
    limits = (score.scale.low, score.scale.high) if score.scale else None
    return line_chart(
        points,
        key=key,
        title=f"{score.address}: mean over the checkpoints",
        description="; ".join(point.hint for point in points),
        limits=limits,
    )


def _point(score: ScoreView, labels: Sequence[str], i: int) -> Point:
    cell = score.cells[i]
    if cell is None or cell.mean is None:
        return Point(label=labels[i], mean=None, hint=f"{labels[i]}: no score")
    mean = number(cell.mean, score.decimals)
    ci = f" {interval(cell.ci, score.decimals)}" if cell.ci else ""
    return Point(
        label=labels[i],
        mean=cell.mean,
        ci=cell.ci,
        text=mean,
        hint=f"{labels[i]}: {mean}{ci}, n={cell.n}",
        joined=_same_signatures(score.cells[i - 1] if i else None, cell),
        flag=_flag(score.falls.get(i)),
    )


def _flag(fall: Drop | None) -> Literal["", "hint", "alarm"]:
    return "" if fall is None else "alarm" if fall.apart else "hint"


def _same_signatures(before: ScoreCell | None, cell: ScoreCell) -> bool:
    return before is not None and before.signatures == cell.signatures and len(cell.signatures) == 1

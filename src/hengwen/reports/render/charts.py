"""Turn the numbers of one score into a chart: points with labels over the checkpoints."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from hengwen.reports.render.svg import Point, line_chart
from hengwen.reports.view.cells import counts_in_words
from hengwen.text.language import Bilingual
from hengwen.text.numbers import count, interval, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from hengwen.records import Run
    from hengwen.reports.view.models import ScoreView, View
    from hengwen.results.aggregate import Summary


def score_chart(score: ScoreView, view: View, key: str) -> Markup:
    """Return the chart of a score over the checkpoints."""
    language, names = view.language, axis_labels(view.runs, view.labels)
    points = [_point(score, view, names[i], i) for i in range(len(names))]
    limits = (score.scale.low, score.scale.high) if score.scale else None
    return line_chart(
        points,
        key=key,
        title=Bilingual(
            f"{score.address}：各检查点的均值", f"{score.address}: mean at each checkpoint"
        ).in_language(language),
        description="; ".join(point.hint for point in points),
        limits=limits,
    )


def axis_labels(runs: Sequence[Run], labels: Sequence[str]) -> list[str]:
    """Return short checkpoint labels: steps if all runs have a step."""
    steps = [run.step for run in runs]
    if steps and None not in steps and len(set(steps)) == len(steps):
        return [count(step or 0) for step in steps]
    parts = [re.split(r"(?<=[-_./: ])", label) for label in labels]
    shared = sum(1 for _ in takewhile(lambda heads: len(set(heads)) == 1, zip(*parts, strict=False)))
    return ["".join(part[shared:]) or label for part, label in zip(parts, labels, strict=True)]


def _point(score: ScoreView, view: View, axis_label: str, i: int) -> Point:
    cell, name = score.cells[i], view.labels[i]
    if cell is None or cell.mean is None:
        return Point(
            label=axis_label,
            mean=None,
            hint=f"{name}: {Bilingual('没有得分', 'no score').in_language(view.language)}",
        )
    mean = number(cell.mean, score.decimals)
    bounds = f" {interval(cell.interval, score.decimals)}" if cell.interval else ""
    return Point(
        label=axis_label,
        mean=cell.mean,
        interval=cell.interval,
        text=mean,
        hint=f"{name}: {mean}{bounds}, {counts_in_words(cell, view.language)}",
        joined=_same_signatures(score.cells[i - 1] if i else None, cell),
        flagged=i in score.drops,
    )


def _same_signatures(previous: Summary | None, cell: Summary) -> bool:
    return previous is not None and previous.signatures == cell.signatures and len(cell.signatures) == 1

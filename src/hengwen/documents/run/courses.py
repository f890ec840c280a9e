"""The courses of scores over the checkpoints, as series and as charts."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from hengwen.documents.blocks import Chart, Point, Series
from hengwen.documents.run.words import counts_in_words
from hengwen.documents.score_names import mean_text
from hengwen.text.language import NO_TEXT, Bilingual, say
from hengwen.text.numbers import interval, minus, scale_text

if TYPE_CHECKING:
    from hengwen.documents.blocks import Mark, Tone
    from hengwen.documents.run.report import Report
    from hengwen.results.aggregate import Summary
    from hengwen.results.score_summaries import ScoreSummaries


ANCHORS = say("the judge on its anchors")


def course_of(score: ScoreSummaries, report: Report) -> Series:
    """Return the mean of a score at each checkpoint: x is the training step where every run has one."""
    steps = [run.step for run in report.data.runs]
    has_steps = None not in steps and len(set(steps)) == len(steps)
    fallen = _fallen(score, report)
    n = len(report.labels)
    is_course = sum(summary is not None and summary.mean is not None for summary in score.summaries) > 1
    best = best_of(score, n) if is_course else None
    labels = _axis_labels(report)
    return Series(
        name="",
        points=tuple(
            _point(
                score,
                i,
                report.labels[i],
                labels[i],
                x=float(steps[i] or 0) if has_steps else float(i),
                tone="worse" if i in fallen else "plain",
                mark=_mark(is_best=i == best, is_newest=i == n - 1),
            )
            for i in range(n)
        ),
    )


def _mark(*, is_best: bool, is_newest: bool) -> Mark:
    if is_best:
        return "best and newest" if is_newest else "best"
    return "newest" if is_newest else ""


def best_of(score: ScoreSummaries, checkpoints: int) -> int | None:
    """Return the index of the best mean of the first checkpoints, the newest of equal ones; None if none."""
    sign = 1 if score.higher_is_better else -1
    means = [
        (sign * summary.mean, index)
        for index, summary in enumerate(score.summaries[:checkpoints])
        if summary is not None and summary.mean is not None
    ]
    return max(means)[1] if means else None


def _fallen(score: ScoreSummaries, report: Report) -> set[int]:
    """Return the indices of the checkpoints that are shown to be worse than the best seen before them."""
    sign = 1 if score.higher_is_better else -1
    fallen, best, peak = set(), None, None
    verdicts = {
        (item.earlier, item.later): item.verdict for item in report.comparisons.get(score.address, ())
    }
    for item in report.data.groups:
        if item.address == score.address:
            verdicts[item.earlier, item.later] = item.verdict
    for index, summary in enumerate(score.summaries):
        if summary is None or summary.mean is None:
            continue
        if peak is not None and verdicts.get((peak, index)) == "worse":
            fallen.add(index)
        if best is None or sign * summary.mean >= best:
            best, peak = sign * summary.mean, index
    return fallen


def _axis_labels(report: Report) -> list[str]:
    """Return short names of checkpoints: what they do not have in common at the start."""
    parts = [re.split(r"(?<=[-_./: ])", label) for label in report.labels]
    shared = sum(1 for _ in takewhile(lambda heads: len(set(heads)) == 1, zip(*parts, strict=False)))
    return ["".join(part[shared:]) or label for part, label in zip(parts, report.labels, strict=True)]


def _point(
    score: ScoreSummaries, i: int, name: str, label: str, *, x: float, tone: Tone, mark: Mark
) -> Point:
    summary = score.summaries[i]
    if summary is None or summary.mean is None:
        return Point(x=x, label=label, value=None, hint=say("{name}: no score", name=name))
    decimals = score.decimals
    mean, words = mean_text(summary.mean, decimals), counts_in_words(summary)
    bounds = f" {minus(interval(summary.interval, decimals))}" if summary.interval else ""
    return Point(
        x=x,
        label=label,
        value=summary.mean,
        text=mean,
        interval=summary.interval,
        hint=NO_TEXT.join([f"{name}: {mean}{bounds}, ", words]),
        is_connected=_has_same_signature(score.summaries[i - 1] if i else None, summary),
        tone=tone,
        mark=mark,
    )


def _has_same_signature(previous: Summary | None, summary: Summary) -> bool:
    return previous is not None and previous.signatures == summary.signatures and len(summary.signatures) == 1


def score_chart(
    key: str, score: ScoreSummaries, title: Bilingual, report: Report, anchor: ScoreSummaries | None = None
) -> Chart:
    """Return the chart of a score over the checkpoints, with what its judge gave to the anchors."""
    scale = f" · {scale_text(score.scale)}" if score.scale else ""
    name = "" if title.en == score.name else f" · {score.name}"
    lane = None
    if anchor is not None:
        lane = course_of(anchor, report)
        lane = replace(lane, points=tuple(replace(p, mark="", tone="plain") for p in lane.points))
    return Chart(
        key=key,
        title=NO_TEXT.join([title, name, scale]),
        series=(course_of(score, report),),
        limits=(score.scale.low, score.scale.high) if score.scale else None,
        lane=lane,
        lane_title=ANCHORS,
        is_in_table=True,
    )

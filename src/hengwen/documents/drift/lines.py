"""The line of a score on the first screen of a drift report: its course, and the newest mean's change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.documents.blocks import Point, ScoreLine, Series
from hengwen.documents.cells import family_text
from hengwen.documents.drift import words
from hengwen.documents.score_names import difference_text, mean_text
from hengwen.text.language import Bilingual
from hengwen.text.numbers import interval, minus, p_text, plural, scale_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.documents.blocks import Text
    from hengwen.documents.score_names import ScoreName
    from hengwen.monitoring.drift.score_drift import DriftReport, ScoreDrift

BEFORE_NEWEST = Bilingual("此前均值 → 最新", "mean before → newest")
TITLE = Bilingual(
    "另一问：最新检查点离此前均值，超出检查点平常的波动吗？（比某个检查点差，不一定超出。）",
    "Another question: is the newest further from the mean before it than checkpoints usually move? (A fall "
    "below one checkpoint need not be.)",
)
_Z_95 = 1.96
_SHORT: Mapping[str, Bilingual] = {
    "no change beyond the usual movement seen": Bilingual("未见超出", "not seen"),
    "cannot be told from the usual movement": Bilingual("无法判断", "cannot be told"),
    "order unknown": Bilingual("先后未知", "order unknown"),
    "missing scores": Bilingual("缺得分", "missing scores"),
}
_MIXED = Bilingual("漂移，方向不一", "drift, both ways")


def drift_line(report: DriftReport, score: ScoreDrift, name: ScoreName) -> ScoreLine:
    """Return the line of a score: the change that the second question is about, and its answer."""
    line = ScoreLine(
        key=f"score-{score.address}",
        name=name.head,
        address=score.address,
        scale=scale_text(score.scale),
        course=course(score) if len(score.means) > 1 and not report.order_problem else None,
        tone=words.direction_tone(score) if score.drifts == "drift" else words.answer_tone(score.drifts),
        word=_word(report, score),
        values={"verdict": score.drifts},
    )
    steps = score.steps
    if steps is None or steps.newest is None:
        return line
    decimals, mean, change = words.mean_decimals(score), score.means[-1].mean, steps.newest
    p = steps.newest_p_adjusted
    prompts = score.means[-1].prompts
    low, high = change.interval
    return replace(
        line,
        before=mean_text(mean - change.difference, decimals),
        after=mean_text(mean, decimals),
        difference=difference_text(change.difference, change.interval, decimals),
        p="" if p is None else p_text(p),
        family="" if p is None else family_text(report.drift_tests),
        prompts=Bilingual(f"{prompts} 题", plural(prompts, "prompt")) if prompts else "",
        values={
            **line.values,
            "difference": change.difference,
            "difference_low": low,
            "difference_high": high,
            "p": p,
            "prompts": prompts,
        },
    )


def _word(report: DriftReport, score: ScoreDrift) -> Text:
    """Return the verdict, with the p of the trend where only that is significant."""
    if score.direction == "mixed":
        return _MIXED
    word = _SHORT.get(score.drifts) or words.drifts_text(score)
    steps = score.steps
    if score.drifts != "drift" or steps is None or steps.slope_p_adjusted is None:
        return word
    if (steps.newest_p_adjusted or 1.0) <= (report.looks.drift_alpha or report.alpha):
        return word
    p = p_text(steps.slope_p_adjusted)
    direction = words.DIRECTIONS[score.direction][1]
    return Bilingual(f"趋势{direction.zh.removeprefix('，')}，{p}", f"trend{direction.en}, {p}")


def course(score: ScoreDrift) -> Series:
    """Return the means of the checkpoints, with the error on these prompts where it is known."""
    decimals = words.mean_decimals(score)
    error = score.steps.mean_error if score.steps else None
    points = []
    for index, item in enumerate(score.means):
        text = mean_text(item.mean, decimals)
        bounds = None if error is None else (item.mean - _Z_95 * error, item.mean + _Z_95 * error)
        ends = minus(interval(bounds, decimals)) if bounds else ""
        hint = f"{item.checkpoint} {text} {ends}".rstrip()
        points.append(
            Point(x=index, label=item.checkpoint, value=item.mean, text=text, interval=bounds, hint=hint)
        )
    return Series(name="", points=tuple(points))

"""Tables of a drift report: the scores of its first screen, and the tests that answer its two questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hengwen.documents import cells
from hengwen.documents.blocks import Block, Cell, Point, ScoreLine, Series, Table, Text, Value
from hengwen.documents.cells import ScoreName, difference_text, family_text, mean_text
from hengwen.documents.drift import words
from hengwen.monitoring.drift.score_drift import DriftReport, ScoreDrift
from hengwen.results.comparisons import CHANGES, family_size
from hengwen.text.language import COMMA, Bilingual
from hengwen.text.numbers import (
    NOTHING,
    decimals_for,
    interval,
    level_text,
    minus,
    number,
    p_text,
    plural,
    scale_text,
)

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
_EQUAL_REPEATS = Bilingual(
    "基线与最新：只取共同的题，各取同样多的回答，所以与检查点自己的均值可能不同",
    "baseline, newest: of the common prompts, with equally many answers, so these means can differ from "
    "those of the checkpoints",
)


def answer_tables(report: DriftReport, scores: Sequence[ScoreDrift]) -> list[Block]:
    """Return the tests of both questions for the tested scores."""
    return [_differ_table(report, scores), _drift_table(report, scores)]


def _differ_table(report: DriftReport, scores: Sequence[ScoreDrift]) -> Table:
    looks = report.looks
    return Table(
        key="differ",
        title=words.FIRST,
        columns=(
            cells.SCORE,
            cells.right("before", "基线", "baseline"),
            cells.right("after", "最新", "newest"),
            cells.right("difference", "相差 [95% 区间]", "difference [95% interval]"),
            cells.P,
            cells.right("pairs", "有差别的对", "differing pairs"),
            cells.PROMPTS,
            cells.left("verdict", "结论", "verdict"),
        ),
        rows=tuple(_differ_row(score) for score in scores),
        notes=(
            *_look_notes(looks.differ, looks.differ_alpha, report.differ_tests, "maxT"),
            Bilingual(
                "p：最新检查点与基线之间；有差别的对：所有检查点两两检验，更好或更差的对数",
                "p: between the newest checkpoint and the baseline; differing pairs: of all pairs of "
                "checkpoints, those better or worse",
            ),
            *([_EQUAL_REPEATS] if any(map(_has_other_means, scores)) else ()),
        ),
    )


def _has_other_means(score: ScoreDrift) -> bool:
    """Return whether the newest checkpoint has another mean on the common prompts than on its own."""
    difference, decimals = score.difference, words.mean_decimals(score)
    own = score.means[-1].mean if score.means else None
    return (
        difference is not None
        and own is not None
        and number(difference.means[1], decimals) != number(own, decimals)
    )


def _differ_row(score: ScoreDrift) -> tuple[Cell, ...]:
    difference = score.difference
    verdict = cells.verdict_cell(words.first_answer(score), score.differs, words.DIFFERS[score.differs][0])
    differing = sum(item.verdict in CHANGES for item in score.comparisons)
    tested = family_size(score.comparisons)
    pairs = Cell(
        text=f"{differing}/{tested}" if tested else NOTHING, values={"": differing, "tested": tested}
    )
    if difference is None:
        absent = cells.number_cell(None, 0)
        widest = max(score.comparisons, key=lambda item: item.prompts, default=None)
        prompts = absent if widest is None else cells.prompts_cell(widest.prompts, widest.clusters)
        before = Cell(text=absent.text, values={"": None, "checkpoints": None})
        row = (before, absent, cells.NO_DIFFERENCE, cells.p_cell(None), pairs, prompts)
        return (Cell(text=score.address), *row, verdict)
    decimals = decimals_for(score.scale, difference.means)
    before_text: Text = number(difference.means[0], decimals)
    if len(difference.baseline) > 1:
        before_text = COMMA.join([before_text, words.baseline_text(difference)])
    values: dict[str, Value] = {"": difference.means[0], "checkpoints": ", ".join(difference.baseline)}
    return (
        Cell(text=score.address),
        Cell(text=before_text, values=values),
        cells.number_cell(difference.means[1], decimals),
        cells.difference_cell(difference.difference, difference.interval.bounds, max(2, decimals)),
        cells.p_cell(difference.p, difference.p_adjusted),
        pairs,
        cells.prompts_cell(difference.prompts, difference.clusters),
        verdict,
    )


def _drift_table(report: DriftReport, scores: Sequence[ScoreDrift]) -> Table:
    looks = report.looks
    return Table(
        key="drift",
        title=words.SECOND,
        columns=(
            cells.SCORE,
            cells.right("trend", "趋势 [95% 区间]", "trend [95% interval]"),
            cells.right("independent_p", "p（独立）", "p (independent)"),
            cells.right("trend_p", "p（一起起伏）", "p (together)"),
            cells.right("newest", "最新 [95% 区间]", "newest [95% interval]"),
            cells.right("newest_p", "p（最新）", "p (newest)"),
            cells.right("jump_p", "p（最后一步）", "p (last step)"),
            cells.left("verdict", "结论", "verdict"),
        ),
        rows=tuple(_drift_row(score) for score in scores),
        notes=(
            *_look_notes(looks.drift, looks.drift_alpha, report.drift_tests, "Holm"),
            Bilingual(
                "趋势：趋势线首末之差；p（独立）：若各检查点的波动互相独立，未校正；"
                "p（一起起伏）：即使相邻检查点一起起伏，两者之中由它定结论",
                "trend: change of the trend line from first to last; p (independent): if checkpoints scatter "
                "independently, not corrected; p (together): even if neighbours move together; of these two, "
                "it decides",
            ),
            Bilingual(
                "最新：最新检查点减去之前各检查点的均值；p（最后一步）：最后一步是否大于之前各步，未校正，不影响结论",
                "newest: the newest checkpoint minus the mean of those before it; p (last step): whether the "
                "last step is larger than the steps before it, not corrected, does not affect the answer",
            ),
            Bilingual(
                "均值若自行游走（每个检查点在前一个之上随机变化），仅凭这些均值与趋势无法区分",
                "means that wander (each checkpoint moves at random from the one before) cannot be told from "
                "a trend by these means alone",
            ),
        ),
    )


def _drift_row(score: ScoreDrift) -> tuple[Cell, ...]:
    steps, fine = score.steps, words.fine_decimals(score)
    independent, slope, recent, jump = (
        (steps.independent, steps.slope, steps.newest, steps.jump) if steps else (None,) * 4
    )
    line = slope or independent
    return (
        Cell(text=score.address),
        cells.difference_cell(line.total, line.total_interval, fine) if line else cells.NO_DIFFERENCE,
        cells.plain_p_cell(independent.p if independent else None),
        cells.p_cell(slope.p if slope else None, steps.slope_p_adjusted if steps else None),
        cells.difference_cell(recent.difference, recent.interval, fine) if recent else cells.NO_DIFFERENCE,
        cells.p_cell(recent.p if recent else None, steps.newest_p_adjusted if steps else None),
        cells.plain_p_cell(jump.p if jump else None),
        cells.verdict_cell(words.drifts_text(score), score.drifts, words.direction_tone(score)),
    )


def _look_notes(look: int | None, alpha: float | None, tests: int, correction: str) -> tuple[Bilingual, ...]:
    if look is None or alpha is None or not tests:
        return ()
    level = level_text(alpha)
    return (
        Bilingual(
            f"p 已按 {tests} 次检验校正（{correction}）；第 {look} 个与此基线比较的运行，"
            f"p 不超过 {level} 才显著",
            f"p corrected for {plural(tests, 'test')} ({correction}); run {look} tested against this "
            f"baseline, so p up to {level} is significant",
        ),
    )


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
    ends = {"difference": change.difference, "difference_low": low, "difference_high": high}
    return replace(
        line,
        before=mean_text(mean - change.difference, decimals),
        after=mean_text(mean, decimals),
        difference=difference_text(change.difference, change.interval, decimals),
        p="" if p is None else p_text(p),
        family="" if p is None else family_text(report.drift_tests),
        prompts=Bilingual(f"{prompts} 题", plural(prompts, "prompt")) if prompts else "",
        values={**line.values, **ends, "p": p, "prompts": prompts},
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
    return COMMA.join([Bilingual(f"趋势{direction.zh.removeprefix('，')}", f"trend{direction.en}"), p])


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

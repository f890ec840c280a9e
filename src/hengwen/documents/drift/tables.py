"""Tables of the tests that answer the two questions of a drift report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.documents import cells
from hengwen.documents.blocks import Cell, Table
from hengwen.documents.drift import words
from hengwen.results.comparisons import CHANGES, family_size
from hengwen.text.language import COMMA, Bilingual
from hengwen.text.numbers import NOTHING, decimals_for, level_text, number, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.documents.blocks import Block, Text, Value
    from hengwen.monitoring.drift.score_drift import DriftReport, ScoreDrift


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

"""Tables of the tests that answer the two questions of a drift report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.documents import cells
from hengwen.documents.blocks import Cell, Column, Table
from hengwen.documents.drift import words
from hengwen.text.language import Bilingual
from hengwen.text.numbers import decimals_for, number, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.documents.blocks import Block
    from hengwen.monitoring.drift.score_drift import DriftReport, ScoreDrift


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
            cells.right("overall_p", "p（Friedman）", "p (Friedman)"),
            cells.PROMPTS,
            Column(key="verdict", head=Bilingual("结论", "verdict")),
        ),
        rows=tuple(_differ_row(score) for score in scores),
        notes=(
            *_look_notes(looks.differ, looks.differ_alpha, report.differ_tests),
            Bilingual(
                "p：最新检查点与基线之间；p（Friedman）：所有检查点之间有无差别",
                "p: between the newest checkpoint and the baseline; p (Friedman): any difference among all "
                "checkpoints",
            ),
        ),
    )


def _differ_row(score: ScoreDrift) -> tuple[Cell, ...]:
    difference, overall = score.difference, score.overall
    verdict = cells.verdict_cell(words.first_answer(score), score.differs, words.DIFFERS[score.differs][0])
    overall_p = cells.p_cell(overall.p, overall.p_adjusted) if overall else cells.p_cell(None)
    if difference is None:
        absent = cells.number_cell(None, 0)
        prompts = absent if overall is None else cells.prompts_cell(overall.prompts, overall.clusters)
        before = Cell(text=absent.text, values={"": None, "checkpoints": None})
        row = (before, absent, cells.NO_DIFFERENCE, cells.p_cell(None), overall_p, prompts)
        return (Cell(text=score.address), *row, verdict)
    decimals = decimals_for(score.scale, difference.means)
    before_text = number(difference.means[0], decimals)
    several = len(difference.baseline) > 1
    baseline = words.baseline_text(difference)
    return (
        Cell(text=score.address),
        Cell(
            text=Bilingual(f"{before_text}，{baseline.zh}", f"{before_text}, {baseline.en}")
            if several
            else before_text,
            values={"": difference.means[0], "checkpoints": ", ".join(difference.baseline)},
        ),
        cells.number_cell(difference.means[1], decimals),
        cells.difference_cell(difference.difference, difference.interval.bounds, max(2, decimals)),
        cells.p_cell(difference.p, difference.p_adjusted),
        overall_p,
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
            cells.right("trend_p", "p（趋势）", "p (trend)"),
            cells.right("signal_to_noise", "信噪比", "S/N"),
            cells.right("newest", "最新 [95% 区间]", "newest [95% interval]"),
            cells.right("newest_p", "p（最新）", "p (newest)"),
            Column(key="verdict", head=Bilingual("结论", "verdict")),
        ),
        rows=tuple(_drift_row(score) for score in scores),
        notes=(
            *_look_notes(looks.drift, looks.drift_alpha, report.drift_tests),
            Bilingual(
                "趋势：趋势线首末之差；信噪比：趋势除以各均值围绕趋势线的波动；"
                "最新：最新检查点减去之前各检查点的均值",
                "trend: change of the trend line from first to last; S/N: the trend divided by the scatter "
                "of the means around the line; newest: the newest checkpoint minus the mean of those before "
                "it",
            ),
        ),
    )


def _drift_row(score: ScoreDrift) -> tuple[Cell, ...]:
    steps, fine = score.steps, words.fine_decimals(score)
    slope, newest = (steps.slope, steps.newest) if steps else (None, None)
    return (
        Cell(text=score.address),
        cells.difference_cell(slope.total, slope.total_interval, fine) if slope else cells.NO_DIFFERENCE,
        cells.p_cell(slope.p if slope else None, steps.slope_p_adjusted if steps else None),
        cells.number_cell(slope.signal_to_noise if slope else None, 1),
        cells.difference_cell(newest.difference, newest.interval, fine) if newest else cells.NO_DIFFERENCE,
        cells.p_cell(newest.p if newest else None, steps.newest_p_adjusted if steps else None),
        cells.verdict_cell(words.drifts_text(score), score.drifts, words.direction_tone(score)),
    )


def _look_notes(look: int | None, alpha: float | None, tests: int) -> tuple[Bilingual, ...]:
    if look is None or alpha is None or not tests:
        return ()
    level = cells.p_short(alpha)
    return (
        Bilingual(
            f"p 已按 {tests} 次检验校正（Holm）；第 {look} 个与此基线比较的运行，p 不超过 {level} 才显著",
            f"p corrected for {plural(tests, 'test')} (Holm); run {look} tested against this baseline, so p "
            f"up to {level} is significant",
        ),
    )

"""The table of effect sizes of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.documents import cells
from hengwen.documents.blocks import Cell, Column, Table
from hengwen.documents.compare.lines import score_decimals
from hengwen.stats.difference_interval import MIN_CLUSTERS
from hengwen.text.language import COMMA, SPACE, Bilingual
from hengwen.text.numbers import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.monitoring.run_comparison import RunComparison, ScoreComparison

_NO_EQUAL_LENGTH: Mapping[str, Bilingual] = {
    "few prompts": Bilingual(
        f"独立的题目不足 {MIN_CLUSTERS} 个，不估计", f"not estimated below {MIN_CLUSTERS} independent prompts"
    ),
    "same ratio": Bilingual(
        "各题长度之比相同，无法估计", "not estimated, all lengths changed by the same ratio"
    ),
}


def effect_table(comparison: RunComparison, scores: list[ScoreComparison]) -> Table:
    """Return effect sizes, detectable differences, and differences at equal length."""
    rows = [_effect_row(score) for score in scores]
    columns: tuple[Column, ...] = (
        cells.SCORE,
        cells.right("detectable", "可检出的最小差别", "smallest detectable difference"),
        cells.right("prompts", "胜/负/平", "wins/losses/ties"),
        cells.right("cliffs_delta", "Cliff's delta", "Cliff's delta"),
        cells.right("p_greater", "P(B>A)", "P(B>A)"),
        cells.right("equal_length", "长度相等时相差", "difference at equal length"),
        cells.right("length_ratio", "长度之比", "length ratio"),
        cells.right("mcnemar_p", "McNemar p（未校正）", "McNemar's p (not corrected)"),
        cells.right("subsampled", "各取相同次数的题", "prompts cut to equal repeats"),
    )
    if comparison.weights == "precision":
        columns += (
            cells.right("weighted", "按精度加权（另一个估计量）", "weighted by precision (another estimand)"),
        )
        rows = [(*row, _weighted_cell(score)) for row, score in zip(rows, scores, strict=True)]
    is_used = [any(row[index].text != NOTHING for row in rows) for index in range(len(columns))]
    return Table(
        key="effects",
        columns=tuple(column for column, used in zip(columns, is_used, strict=True) if used),
        rows=tuple(tuple(cell for cell, used in zip(row, is_used, strict=True) if used) for row in rows),
    )


def _effect_row(score: ScoreComparison) -> tuple[Cell, ...]:
    effects, equal, fine = score.effects, score.equal_length, score_decimals(score)
    assert effects is not None  # a score with a test has effect sizes
    return (
        Cell(text=score.address),
        cells.number_cell(score.detectable, fine),
        Cell(
            text=f"{effects.wins}/{effects.losses}/{effects.ties}",
            values=cells.fields(effects, "wins", "losses", "ties"),
        ),
        cells.signed_cell(effects.cliffs_delta, 2),
        cells.number_cell(effects.p_greater, 2),
        _equal_length_cell(score, fine),
        cells.number_cell(equal.length_ratio if equal else None, 2),
        cells.plain_p_cell(score.mcnemar_p),
        Cell(text=str(score.subsampled) if score.subsampled else NOTHING, values={"": score.subsampled}),
    )


def _equal_length_cell(score: ScoreComparison, decimals: int) -> Cell:
    equal = score.equal_length
    if equal is None:
        return cells.NO_DIFFERENCE
    if equal.reason:
        return Cell(text=_NO_EQUAL_LENGTH[equal.reason], values=cells.NO_DIFFERENCE.values)
    return cells.difference_cell(equal.difference, equal.interval, decimals)


def _weighted_cell(score: ScoreComparison) -> Cell:
    weighted = score.weighted
    if weighted is None:
        text = Bilingual(
            "各题没有可取平均的多次回答，无法加权", "no weights: prompts have no repeats to average"
        )
        return Cell(text=text, values={"": None, "low": None, "high": None, "p": None})
    cell = cells.difference_cell(
        weighted.difference, weighted.interval, score_decimals(score), {"p": weighted.p}
    )
    p = SPACE.join(["p", cells.p_cell(weighted.p).text])
    return Cell(text=COMMA.join([cell.text, p]), values=cell.values)

"""The answers on which two scores disagree most, such as those of a judge and of people."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hengwen.results.score_table import SeriesKey
from hengwen.stats.difference_interval import average_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hengwen.records import Kind
    from hengwen.results.score_table import ScoreTable
    from hengwen.score_id import ScoreId


class Disagreement(NamedTuple):
    """One answer with its values in two scores."""

    run_id: str
    sample_id: str
    repeat: int
    first: float
    second: float
    difference: float
    """Second minus first: of the values if both scores have one scale, else of their places (0: the worst of
    all answers that have both scores, 1: the best)."""


def disagreements(
    table: ScoreTable,
    run_ids: Sequence[str],
    first: tuple[ScoreId, Kind],
    second: tuple[ScoreId, Kind],
    *,
    by_place: bool,
) -> list[Disagreement]:
    """Return the answers that have both scores, those with the largest difference first.

    Args:
        table: Has both scores.
        run_ids: Runs whose answers are compared.
        first: A score of answers.
        second: Another score of the same answers.
        by_place: Whether the places of the answers are compared, because the scales differ; else the values.
    """
    keys: list[tuple[str, str, int]] = []
    values: tuple[list[float], list[float]] = ([], [])
    for run in run_ids:
        sides = [_values(table, run, *score) for score in (first, second)]
        for answer, value in sides[0].items():
            if answer in sides[1]:
                keys.append((run, *answer))
                values[0].append(value)
                values[1].append(sides[1][answer])
    merits = [
        np.array(column) * _sign(table, run_ids, *score)
        for column, score in zip(values, (first, second), strict=True)
    ]
    differences = _places(merits[1]) - _places(merits[0]) if by_place else merits[1] - merits[0]
    rows = [
        Disagreement(*key, *pair, float(difference))
        for key, pair, difference in zip(keys, zip(*values, strict=True), differences, strict=True)
    ]
    return sorted(rows, key=lambda row: -abs(row.difference))


def _values(table: ScoreTable, run_id: str, score: ScoreId, kind: Kind) -> dict[tuple[str, int], float]:
    column = table.series.get(SeriesKey(run_id, score, kind))
    if column is None:
        return {}
    rows = zip(column.sample_ids, column.repeats, column.values, strict=True)
    return {
        (sample, repeat): value
        for sample, repeat, value in rows
        if sample is not None and repeat is not None and value is not None
    }


def _sign(table: ScoreTable, run_ids: Sequence[str], score: ScoreId, kind: Kind) -> int:
    scales = [column.scale for run in run_ids if (column := table.series.get(SeriesKey(run, score, kind)))]
    return 1 if all(scale is None or scale.higher_is_better for scale in scales) else -1


def _places(merits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the place of each value between 0 (lowest) and 1 (highest); equal values share one place."""
    return (average_ranks(merits) - 1) / max(len(merits) - 1, 1)

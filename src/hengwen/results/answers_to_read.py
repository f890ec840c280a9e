"""The answers to read: where a score fell between two runs, and where two scores disagree most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hengwen.records import Kind
from hengwen.results.paired_values import pair_values
from hengwen.results.score_table import Column, ScoreTable, SeriesKey
from hengwen.score_id import ScoreId
from hengwen.stats.mean_interval import average_ranks

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PromptValue(NamedTuple):
    """The value of one prompt in one run, and the answers from which it is computed."""

    value: float
    answers: Mapping[int, float]
    """Value of each answer that counts, by its repeat."""

    @property
    def typical(self) -> int:
        """Repeat of the answer nearest to the value of the prompt; of equally near ones, the first."""
        return min(self.answers, key=lambda repeat: (abs(self.answers[repeat] - self.value), repeat))


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptChange:
    """One prompt that has a score in two runs."""

    sample_id: str
    before: PromptValue
    after: PromptValue
    merit: float
    """Change of the value, positive if the score is better; the change itself if higher values are better."""

    @property
    def change(self) -> float:
        """Later minus earlier value."""
        return self.after.value - self.before.value


def prompt_changes(
    table: ScoreTable, runs: tuple[str, str], score: ScoreId, kind: Kind
) -> list[PromptChange]:
    """Return the common prompts of two runs (by id), those on which the score fell most first."""
    before, after = (table.series.get(SeriesKey(run, score, kind)) for run in runs)
    if before is None or after is None or before.is_group_score or after.is_group_score:
        return []
    paired = pair_values(before, after)
    values = _answer_values(before), _answer_values(after)
    higher = before.scale is None or before.scale.higher_is_better
    changes = [
        PromptChange(
            sample_id=name,
            before=PromptValue(old, {repeat: values[0][name, repeat] for repeat in repeats[0]}),
            after=PromptValue(new, {repeat: values[1][name, repeat] for repeat in repeats[1]}),
            merit=new - old if higher else old - new,
        )
        for name, old, new, repeats in zip(
            paired.prompts, paired.before, paired.after, paired.repeats, strict=True
        )
    ]
    return sorted(changes, key=lambda item: (item.merit, item.sample_id))


def _answer_values(column: Column) -> dict[tuple[str, int], float]:
    values = column.by_answer().items()
    return {(sample, repeat or 0): value for (sample, repeat), value in values if sample is not None}


def part_changes(
    table: ScoreTable, runs: tuple[str, str], parts: Sequence[tuple[ScoreId, Kind]]
) -> dict[ScoreId, dict[str, float]]:
    """Return, for each part of a score, the change on each common prompt, positive if the part is better."""
    return {
        part: {item.sample_id: item.merit for item in prompt_changes(table, runs, part, kind)}
        for part, kind in parts
    }


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
    """Return the answers that have both scores, those with the largest difference (of places, or values)."""
    keys: list[tuple[str, str, int]] = []
    values: tuple[list[float], list[float]] = ([], [])
    for run in run_ids:
        columns = [table.series.get(SeriesKey(run, *score)) for score in (first, second)]
        sides = [_answer_values(column) if column else {} for column in columns]
        for answer, value in sides[0].items():
            if answer in sides[1] and answer[1]:  # no score of all repeats
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


def _sign(table: ScoreTable, run_ids: Sequence[str], score: ScoreId, kind: Kind) -> int:
    scales = [column.scale for run in run_ids if (column := table.series.get(SeriesKey(run, score, kind)))]
    return 1 if all(scale is None or scale.higher_is_better for scale in scales) else -1


def _places(merits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the place of each value between 0 (lowest) and 1 (highest); equal values share one place."""
    return (average_ranks(merits) - 1) / max(len(merits) - 1, 1)

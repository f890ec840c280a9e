"""Which prompts a score fell on between two runs, and which parts of the score fell with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from hengwen.results.paired_values import pair_values
from hengwen.results.score_table import SeriesKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.records import Kind
    from hengwen.results.score_table import Column, ScoreTable
    from hengwen.score_id import ScoreId


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
    """Return the common prompts of two runs (by id), those on which the score fell most first.

    The value of a prompt is the one that the paired tests use: equally many answers of both runs count.
    """
    before, after = (table.series.get(SeriesKey(run, score, kind)) for run in runs)
    if before is None or after is None or None in before.sample_ids or None in after.sample_ids:
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
    rows = zip(column.sample_ids, column.repeats, column.values, strict=True)
    return {
        (sample, repeat or 0): value
        for sample, repeat, value in rows
        if sample is not None and value is not None
    }


def part_changes(
    table: ScoreTable, runs: tuple[str, str], parts: Sequence[tuple[ScoreId, Kind]]
) -> dict[ScoreId, dict[str, float]]:
    """Return, for each part of a score, the change on each common prompt, positive if the part is better."""
    return {
        part: {item.sample_id: item.merit for item in prompt_changes(table, runs, part, kind)}
        for part, kind in parts
    }

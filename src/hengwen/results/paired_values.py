"""Pair the values of two checkpoints on their common prompts, using equally many repeats of each prompt."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hengwen.results.aggregate import reduce_repeats
from hengwen.results.coverage import answers_by_prompt, coverages
from hengwen.results.score_table import Column


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedValues:
    """The value of each common prompt at two checkpoints."""

    prompts: tuple[str, ...]
    clusters: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    repeats: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    """For each prompt, the repeats of its two values, equally many at both checkpoints."""
    subsampled: int
    """Number of prompts of which one checkpoint has more scored repeats than the other."""
    coverage: tuple[float, float]
    """For each checkpoint, the share of prompts with a score; 0 if the score applies to no prompt."""
    answer_coverage: tuple[float, float]
    """For each checkpoint, the share of answers with a score, among those that both should have."""
    repeat_variance: float | None
    """Pooled variance of the repeats of a prompt; None without several repeats that are averaged."""

    @property
    def differences(self) -> list[float]:
        """Later minus earlier value of each prompt."""
        return [after - before for before, after in zip(self.before, self.after, strict=True)]

    @property
    def cluster_count(self) -> int:
        """Number of clusters of the prompts."""
        return len(set(self.clusters))


class _Prompt(NamedTuple):
    cluster: str
    scored: list[tuple[int, float]]
    """Each repeat that has a score, as (repeat, value)."""


def pair_values(
    before: Column, after: Column, *, differing: Collection[str] = (), common_only: bool = False
) -> PairedValues:
    """Pair the values of one score at two checkpoints by prompt."""
    columns = (before, after)
    sides = [_prompts(column) for column in columns]
    shared = {name for name in sides[0] if name in sides[1]} - set(differing)
    before_coverage, after_coverage = coverages(
        [
            {name: number for name, number in side.items() if not common_only or name in shared}
            for side in map(answers_by_prompt, columns)
        ]
    )
    names = [name for name in sides[0] if name in shared and all(side[name].scored for side in sides)]
    values: tuple[list[float], list[float]] = ([], [])
    repeats: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    subsampled, squares, freedom = 0, 0.0, 0
    for name in names:
        lists = [side[name].scored for side in sides]
        size = min(map(len, lists))
        subsampled += any(len(scored) > size for scored in lists)
        taken = [scored[:size] for scored in lists]
        repeats.append((_numbers(taken[0]), _numbers(taken[1])))
        for column, scored, reduced in zip(columns, taken, values, strict=True):
            higher = column.scale is None or column.scale.higher_is_better
            answers = [value for _, value in scored]
            reduced.append(reduce_repeats(answers, column.reducer, higher_is_better=higher))
            if size > 1:
                mean = sum(answers) / size
                squares += sum((value - mean) ** 2 for value in answers)
                freedom += size - 1
    is_mean = before.reducer == after.reducer == "mean"
    return PairedValues(
        prompts=tuple(names),
        clusters=tuple(sides[0][name].cluster for name in names),
        before=tuple(values[0]),
        after=tuple(values[1]),
        repeats=tuple(repeats),
        subsampled=subsampled,
        coverage=(before_coverage.prompts, after_coverage.prompts),
        answer_coverage=(before_coverage.answers, after_coverage.answers),
        repeat_variance=squares / freedom if freedom and is_mean else None,
    )


def _prompts(column: Column) -> dict[str, _Prompt]:
    """Return the prompts to which the score applies, in order of appearance, with their scored repeats."""
    prompts: dict[str, _Prompt] = {}
    for sample, repeat, cluster, status, value in column.rows():
        if sample is not None and status != "not_applicable":
            prompt = prompts.setdefault(sample, _Prompt(cluster, []))
            if value is not None:
                prompt.scored.append((repeat or 0, value))
    for prompt in prompts.values():
        prompt.scored.sort()
    return prompts


def _numbers(scored: Sequence[tuple[int, float]]) -> tuple[int, ...]:
    return tuple(repeat for repeat, _ in scored)


def log_length_changes(
    paired: PairedValues, before: Mapping[tuple[str, int], float], after: Mapping[tuple[str, int], float]
) -> list[float] | None:
    """Return the change of the mean log length of the answers to each prompt; None if a length is missing."""
    changes = []
    for name, numbers in zip(paired.prompts, paired.repeats, strict=True):
        means = []
        for lengths, repeats in zip((before, after), numbers, strict=True):
            logs = [lengths[name, repeat] for repeat in repeats if (name, repeat) in lengths]
            if len(logs) < len(repeats):
                return None
            means.append(sum(logs) / len(logs))
        changes.append(means[1] - means[0])
    return changes

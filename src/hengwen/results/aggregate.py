"""Compute mean, confidence interval, coverage and failures of each series.

A series holds the outcomes (scores and failures) of one score in one run. First, the values of a prompt's
repeats are combined by their mean, or by the reducer that the plan names. Then all prompts have the same
weight. Intervals treat clusters (groups of prompts that depend on each other) as independent units; by
default, each prompt is a cluster. Failures are counted and never enter a mean.

Coverage is the share of scored outcomes; those with the status ``not_applicable`` are left out. It is
computed for answers and for prompts, because a prompt without any answer counts as one failure, however many
repeats it should have.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from hengwen.stats.mean_interval import mean_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.records import Reducer, Scale
    from hengwen.results.score_table import Column, ScoreTable, SeriesKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Mean of one series with its interval, coverage and failures."""

    n: int
    """Number of scored outcomes; for a score of a group of answers, the number of answers if it is known."""
    prompts: int
    """Number of prompts with a scored outcome."""
    clusters: int
    """Number of clusters of these prompts; 0 for the score of a group of answers."""
    mean: float | None
    """Mean over prompts; None if nothing is scored."""
    interval: tuple[float, float] | None
    """Two-sided confidence interval of the mean; None if there are fewer than two clusters."""
    method: Literal["t", "scorer", "none"]
    """``t``: computed by ``stats.mean_interval``; ``scorer``: reported by a scorer of groups of answers."""
    confidence: float
    """Confidence level of the interval."""
    coverage: float | None
    """Scored / (scored + failed) outcomes; None if every outcome is ``not_applicable``."""
    prompts_expected: int | None = None
    """Number of prompts in the task's samples (in the outcomes, if the number of samples is unknown). Prompts
    whose outcomes are all ``not_applicable`` are not counted. None for a group score of unknown size."""
    prompts_attempted: int | None = None
    """Like ``prompts_expected``, but without prompts that the run did not reach, such as with ``--limit``."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """Number of failures by status, without ``not_applicable``."""
    first_messages: Mapping[str, str] = field(default_factory=dict)
    """Message of the first failure of each status, including ``not_applicable``."""
    not_applicable: int = 0
    """Number of outcomes with the status ``not_applicable``."""
    signatures: tuple[str, ...] = ()
    """Signatures of the outcomes; values under several signatures are not comparable."""
    scale: Scale | None = None
    """Range of the values, and whether higher values are better."""
    judged_by_rules: bool = False
    """Whether the scores come from a rules judge (fixed rules, no model), or are derived from its levels."""

    @property
    def prompt_coverage(self) -> float | None:
        """``prompts`` / ``prompts_expected``; None if ``prompts_expected`` is 0 or unknown."""
        return self.prompts / self.prompts_expected if self.prompts_expected else None


def aggregate(table: ScoreTable, *, confidence: float = 0.95) -> dict[SeriesKey, Summary]:
    """Return a summary of each series of a table, in the table's order.

    Args:
        table: Outcomes of any number of runs.
        confidence: Confidence level of the intervals, in (0, 1).
    """
    rules_judges = {_judge_of(key) for key, column in table.series.items() if column.judged_by_rules}
    summaries = {key: summarize_column(column, confidence=confidence) for key, column in table.series.items()}
    for key, summary in summaries.items():
        if key.kind == "judge" and _judge_of(key) in rules_judges:
            summaries[key] = replace(summary, judged_by_rules=True)
    return summaries


def summarize_column(column: Column, *, confidence: float = 0.95) -> Summary:
    """Return the summary of one series; arguments as in :func:`aggregate`."""
    statuses = Counter(column.statuses)
    scored = statuses.pop("ok", 0)
    not_applicable = statuses.pop("not_applicable", 0)
    failed = sum(statuses.values())
    values, clusters = prompt_values(column)
    attempted, expected = _prompt_counts(column)
    is_group_score = scored > 0 and all(
        sample is None
        for sample, value in zip(column.sample_ids, column.values, strict=True)
        if value is not None
    )
    if is_group_score:
        interval = column.interval
        n, prompts = column.composed_of or (scored, 0)
    else:
        bounds = None if column.scale is None else (column.scale.low, column.scale.high)
        interval = mean_interval(values, clusters, scale=bounds, confidence=confidence).bounds
        n, prompts = scored, len(values)
    if interval is not None and column.scale is not None:
        interval = max(interval[0], column.scale.low), min(interval[1], column.scale.high)
    return Summary(
        n=n,
        prompts=prompts,
        clusters=0 if is_group_score else len(values if clusters is None else set(clusters)),
        mean=float(np.mean(values)) if values else None,
        interval=interval,
        method="none" if interval is None else "scorer" if is_group_score else "t",
        confidence=confidence,
        coverage=scored / (scored + failed) if scored + failed else None,
        prompts_expected=expected,
        prompts_attempted=attempted,
        failures=dict(sorted(statuses.items())),
        first_messages={
            status: column.first_messages[status]
            for status in sorted([*statuses, *(["not_applicable"] if not_applicable else [])])
            if status in column.first_messages
        },
        not_applicable=not_applicable,
        signatures=tuple(sorted(column.signatures)),
        scale=column.scale,
        judged_by_rules=column.judged_by_rules,
    )


def reduce_repeats(values: Sequence[float], reducer: Reducer, *, higher_is_better: bool = True) -> float:
    """Return the value of a prompt from the values of its repeats.

    Args:
        values: One or more values.
        reducer: The ``median`` of an even number of values is the mean of the middle two. If several values
            are equally frequent, ``mode`` takes the worst of them.
        higher_is_better: Whether the smallest value is the worst.

    Examples:
        >>> values = [0.0, 0.5, 0.5, 1.0]
        >>> [reduce_repeats(values, name) for name in ("mean", "median", "mode", "worst", "best")]
        [0.5, 0.5, 0.5, 0.0, 1.0]
        >>> reduce_repeats([0, 1], "mode"), reduce_repeats([0, 1], "worst", higher_is_better=False)
        (0.0, 1.0)
    """
    worst, best = (min, max) if higher_is_better else (max, min)
    if reducer == "mode":
        counts = Counter(values)
        largest = max(counts.values())
        return float(worst(value for value, count in counts.items() if count == largest))
    if reducer in ("worst", "best"):
        return float(worst(values) if reducer == "worst" else best(values))
    return float(np.mean(values) if reducer == "mean" else np.median(values))


def value_by_prompt(column: Column) -> dict[str | None, float]:
    """Return the value of each prompt with a scored repeat, in order of appearance."""
    single = dict(zip(column.sample_ids, column.values, strict=True))
    if len(single) == len(column.sample_ids):  # one answer a prompt: nothing to reduce
        return {sample: value for sample, value in single.items() if value is not None}
    repeats: dict[str | None, list[float]] = {}
    for sample, value in zip(column.sample_ids, column.values, strict=True):
        if value is not None:
            repeats.setdefault(sample, []).append(value)
    higher = column.scale is None or column.scale.higher_is_better
    return {
        sample: reduce_repeats(values, column.reducer, higher_is_better=higher)
        for sample, values in repeats.items()
    }


def prompt_values(column: Column) -> tuple[list[float], list[str] | None]:
    """Return the value and the cluster of each prompt with a scored repeat, in order of appearance.

    The clusters are None if every prompt is a cluster of its own.
    """
    values = value_by_prompt(column)
    if column.clusters == column.sample_ids:
        return list(values.values()), None
    cluster_of = dict(zip(column.sample_ids, column.clusters, strict=True))
    return list(values.values()), [cluster_of[sample] for sample in values]


def _judge_of(key: SeriesKey) -> tuple[str, str, str]:
    """Return the run, the task and the name of the judge of a series."""
    return key.run_id, key.task, key.name.removeprefix("anchor.").partition(".")[0]


def _prompt_counts(column: Column) -> tuple[int | None, int | None]:
    """Return ``prompts_attempted`` and ``prompts_expected`` of a summary."""
    attempted = set(column.sample_ids)
    if "not_applicable" in column.statuses:
        pairs = zip(column.sample_ids, column.statuses, strict=True)
        attempted = {sample for sample, status in pairs if status != "not_applicable"}
    if attempted == {None}:  # a group score, which names its prompts in its details or not at all
        if "ok" in column.statuses and column.composed_of is None:
            return None, None
        prompts = column.composed_of[1] if column.composed_of else 0
        return prompts, max(column.sample_count or 0, prompts) or None
    if column.sample_count is None:
        return len(attempted), len(attempted)
    not_applicable = len(set(column.sample_ids) - attempted)
    return len(attempted), max(column.sample_count - not_applicable, len(attempted))

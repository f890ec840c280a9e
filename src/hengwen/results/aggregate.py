"""Compute the mean, its confidence interval, the share of scored answers and the failures of each score.

The repeats of a prompt are combined by their mean, or by another function (reducer) that the plan names; then
all prompts have the same weight. Intervals treat clusters (groups of prompts that depend on each other) as
independent units. Failures are counted and never enter a mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from statistics import NormalDist, fmean
from typing import Literal

import numpy as np

from hengwen.records import Reducer, Scale
from hengwen.results.comparability import UNKNOWN, ComparabilityKey
from hengwen.results.coverage import MIN_COVERAGE, answer_coverage, mean_bounds
from hengwen.results.score_table import Column, ScoreTable, SeriesKey
from hengwen.stats.mean_interval import mean_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Mean of one score in one run, with its interval, coverage (share of scored outcomes) and failures."""

    n: int
    """Number of scores, without failures; for a score of a group of answers, the number of answers if it is
    known."""
    prompts: int
    """Number of prompts that have a score."""
    clusters: int
    """Number of clusters (groups of dependent prompts) of the scored prompts; 0 for the score of a group of
    answers."""
    mean: float | None
    """Mean over prompts; None if nothing is scored."""
    interval: tuple[float, float] | None
    """Two-sided confidence interval of the mean; None if there are fewer than two clusters."""
    ends: tuple[float, float] | None = None
    """The interval holds unless prompts like those not seen have values outside of this range. It is the
    scale or the plausible range of the plan, and narrower for a continuous score from 20 clusters on; None if
    the score is unbounded."""
    outside: float | None = None
    """A value outside of the plausible range of the plan, which is not used therefore; None if there is
    none."""
    method: Literal["t", "scorer", "none"]
    """Origin of the interval. ``t``: the interval was computed by ``stats.mean_interval``. ``scorer``: the
    interval was reported by a scorer of groups of answers."""
    confidence: float
    """Confidence level of the interval."""
    coverage: float | None
    """Share of the answers that have a score; a prompt without any answer misses as many as other prompts
    have. It is None if the score applies to no answer."""
    prompts_expected: int | None = None
    """Number of prompts in the task's samples; if that is unknown, the number of prompts with a score or
    failure. Prompts to which the score does not apply (status ``not_applicable``) are not counted. The number
    is None for the score of a group of answers whose size is unknown."""
    prompts_attempted: int | None = None
    """Number of prompts that the run reached; with ``--limit``, this can be less than
    ``prompts_expected``."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """Number of failures of each status; ``not_applicable`` does not count as a failure."""
    first_messages: Mapping[str, str] = field(default_factory=dict)
    """Message of the first failure of each status, including ``not_applicable``."""
    not_applicable: int = 0
    """Number of answers to which the score does not apply (status ``not_applicable``)."""
    signatures: tuple[str, ...] = ()
    """Signatures (settings) of the scores; values with different signatures are not comparable."""
    scale: Scale | None = None
    """Range of the values, and whether higher values are better."""
    bounds: tuple[float, float] | None = None
    """Mean if every missing answer had the lowest value of the scale, and if it had the highest; None if none
    is missing or the score has no scale."""
    judged_by_rules: bool = False
    """Whether a rules judge (fixed rules, no model) gave the scores, or gave the levels from which the scores
    are computed."""
    comparability: ComparabilityKey = UNKNOWN
    """Description of the data behind the score, such as prompts and references. Means with different keys are
    not compared."""

    @property
    def prompt_coverage(self) -> float | None:
        """Share of ``prompts_expected`` that have a score; None if ``prompts_expected`` is 0 or unknown."""
        return self.prompts / self.prompts_expected if self.prompts_expected else None

    @property
    def least_coverage(self) -> float:
        """The lower of two shares: of prompts with a score, and of answers with a score; 0 if unknown."""
        shares = [share for share in (self.prompt_coverage, self.coverage) if share is not None]
        return min(shares, default=0.0)

    @property
    def is_covered(self) -> bool:
        """Whether enough prompts and answers have a score for a verdict: at least 95 % of both."""
        return self.least_coverage >= MIN_COVERAGE

    @property
    def failed(self) -> int:
        """Number of failures of any status."""
        return sum(self.failures.values())

    @property
    def is_complete(self) -> bool:
        """Whether all prompts and answers have a score, as far as the numbers are known."""
        return self.coverage in (None, 1.0) and self.prompt_coverage in (None, 1.0)

    @property
    def has_no_prompts(self) -> bool:
        """Whether the mean is a score of a group of answers, and the number of their prompts is unknown."""
        return self.n > 0 and self.prompts == 0


def aggregate(table: ScoreTable, *, confidence: float = 0.95) -> dict[SeriesKey, Summary]:
    """Return the summary of each series (one score in one run) of a table, in the table's order."""
    rules_judges = {_judge_of(key) for key, column in table.series.items() if column.judged_by_rules}
    summaries = {key: summarize_column(column, confidence=confidence) for key, column in table.series.items()}
    for key, summary in summaries.items():
        if key.kind == "judge" and _judge_of(key) in rules_judges:
            summaries[key] = replace(summary, judged_by_rules=True)
    return summaries


def summarize_column(column: Column, *, confidence: float = 0.95) -> Summary:
    """Return the summary of one series, that is of one score in one run."""
    statuses = column.status_counts
    scored = statuses.pop("ok", 0)
    not_applicable = statuses.pop("not_applicable", 0)
    coverage = answer_coverage(column)
    values = value_by_prompt(column)
    clusters = _clusters_of(column, values)
    attempted, expected = _prompt_counts(column)
    is_group_score = set(values) == {None}
    scale, ends = column.scale, None
    if is_group_score:
        interval, confidence = column.interval, column.confidence or confidence
        n, prompts = column.composed_of or (scored, 0)
        if interval is not None and scale is not None:
            interval = max(interval[0], scale.low), min(interval[1], scale.high)
    else:
        continuous = scale is None or not scale.discrete
        result = mean_interval(
            list(values.values()),
            clusters,
            scale=range_of(column),
            continuous=continuous,
            confidence=confidence,
        )
        interval, ends, n, prompts = result.bounds, result.ends, scored, len(values)
    if interval is not None:
        interval = interval[0] + 0.0, interval[1] + 0.0  # never a negative zero
    return Summary(
        n=n,
        prompts=prompts,
        clusters=0 if is_group_score else len(values if clusters is None else set(clusters)),
        mean=float(np.mean(list(values.values()))) + 0.0 if values else None,
        interval=interval,
        ends=ends,
        outside=_outside(column),
        method="none" if interval is None else "scorer" if is_group_score else "t",
        confidence=confidence,
        coverage=coverage,
        bounds=mean_bounds(column, expected),
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


def range_of(column: Column) -> tuple[float, float] | None:
    """Return the scale, or the plausible range of the plan if it holds all values; None without bounds."""
    scale, plausible = column.scale, column.plausible
    if plausible is not None and _outside(column) is None:
        return plausible if scale is None else (max(plausible[0], scale.low), min(plausible[1], scale.high))
    return None if scale is None else (scale.low, scale.high)


def _outside(column: Column) -> float | None:
    """Return the value of a series that lies furthest outside of its plausible range; None if none does."""
    if column.plausible is None or not column.has_scores:
        return None
    values, (low, high) = column.array, column.plausible
    excess = np.fmax(low - values, values - high)
    worst = int(np.nanargmax(excess))
    return float(values[worst]) if excess[worst] > 0 else None


def group_variance(column: Column) -> float | None:
    """Return the squared standard error of a score of a group of answers, None if unknown."""
    if column.interval is None or not column.is_group_score:
        return None
    low, high = column.interval
    return ((high - low) / 2 / NormalDist().inv_cdf(0.5 + (column.confidence or 0.95) / 2)) ** 2


def deciding_interval(column: Column, *, confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the interval by which a gate decides: unseen prompts may lie anywhere on the scale."""
    values, clusters = prompt_values(column)
    return mean_interval(values, clusters, scale=range_of(column), confidence=confidence).bounds


def reduce_repeats(values: Sequence[float], reducer: Reducer, *, higher_is_better: bool = True) -> float:
    """Return the value of a prompt from the values of its repeats."""
    worst, best = (min, max) if higher_is_better else (max, min)
    if reducer == "mode":
        counts = Counter(values)
        largest = max(counts.values())
        return float(worst(value for value, count in counts.items() if count == largest))
    if reducer in ("worst", "best"):
        return float(worst(values) if reducer == "worst" else best(values))
    return fmean(values) if reducer == "mean" else float(np.median(values))


def value_by_prompt(column: Column) -> dict[str | None, float]:
    """Return the value of each prompt that has at least one scored repeat, in order of appearance."""
    prompts, indexes = column.keys.prompts
    indexes, values = indexes[column.is_scored], column.array[column.is_scored]
    counts = np.bincount(indexes, minlength=len(prompts))
    scored = list(compress(prompts, counts.tolist()))
    if len(values) == len(scored) and (np.diff(indexes) > 0).all():  # there is nothing to combine
        return dict(zip(scored, values.tolist(), strict=True))
    if column.reducer == "mean":
        sums = np.bincount(indexes, weights=values, minlength=len(prompts))
        means = sums[counts > 0] / counts[counts > 0]
        return dict(zip(scored, means.tolist(), strict=True))
    by_prompt = np.split(values[np.argsort(indexes, kind="stable")], np.cumsum(counts[counts > 0])[:-1])
    higher = column.scale is None or column.scale.higher_is_better
    return {
        sample: reduce_repeats(repeats.tolist(), column.reducer, higher_is_better=higher)
        for sample, repeats in zip(scored, by_prompt, strict=True)
    }


def prompt_values(column: Column) -> tuple[list[float], list[str] | None]:
    """Return the value and the cluster of each prompt that has a scored repeat, in order of appearance."""
    values = value_by_prompt(column)
    return list(values.values()), _clusters_of(column, values)


def _clusters_of(column: Column, prompts: Iterable[str | None]) -> list[str] | None:
    """Return the cluster of each prompt; None if all prompts are independent."""
    if column.clusters == column.sample_ids:
        return None
    cluster_of = dict(zip(column.sample_ids, column.clusters, strict=True))
    return [cluster_of[sample] for sample in prompts]


def _judge_of(key: SeriesKey) -> tuple[str, str, str]:
    """Return the run, the task and the name of the judge of a series."""
    return key.run_id, key.task, key.score.evaluator


def _prompt_counts(column: Column) -> tuple[int | None, int | None]:
    """Return the values of ``prompts_attempted`` and ``prompts_expected`` for a summary."""
    attempted = column.answers().keys()
    if attempted == {None}:  # a score of a group of answers; its details may have the number of prompts
        if column.has_scores and column.composed_of is None:
            return None, None
        prompts = column.composed_of[1] if column.composed_of else 0
        return prompts, max(column.sample_count or 0, prompts) or None
    if column.sample_count is None:
        return len(attempted), len(attempted)
    not_applicable = len(set(column.sample_ids) - attempted)
    return len(attempted), max(column.sample_count - not_applicable, len(attempted))

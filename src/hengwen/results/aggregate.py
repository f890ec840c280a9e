"""Rows to means, coverage, failures and intervals: the one home of aggregation.

A prompt's value is the mean of its repeats (or what the plan wants); prompts weigh equally. Intervals
resample clusters (default: a prompt is a cluster): t on the cluster-robust standard error below 30 clusters,
BCa bootstrap by cluster from 30 on; they end where the scale ends, for no mean lies beyond. Failures are
counted and never enter a mean; ``not_applicable`` is counted apart from coverage.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from hengwen.stats.intervals import cluster_interval, interval_method

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.records import Reducer, Scale
    from hengwen.results.score_table import Column, ScoreTable, SeriesKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One mean with all that it needs to be read."""

    n: int
    """Scored outcomes; of a value of a whole set the answers that it is made of, where it says so."""
    prompts: int
    clusters: int
    mean: float | None
    """None where nothing was scored."""
    ci: tuple[float, float] | None
    """Two-sided; None below two clusters and for a value of a whole set."""
    method: Literal["t", "bootstrap", "scorer", "none"]
    """``scorer``: the scorer of a whole set gave its own interval."""
    level: float
    coverage: float | None
    """Scored / (scored + failed); None where nothing could apply."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """By status, without ``not_applicable``."""
    not_applicable: int = 0
    signatures: tuple[str, ...] = ()
    """More than one: the values are not comparable, and the report says so."""
    scale: Scale | None = None


def aggregate(table: ScoreTable, *, level: float = 0.95, seed: int = 0) -> dict[SeriesKey, Summary]:
    """Summarise every series of a table.

    Args:
        table: Outcomes of any number of runs.
        level: Of the intervals, in (0, 1).
        seed: Of the bootstrap.

    Returns:
        A summary for each series, in the table's order.
    """
    return {key: summarize_column(column, level=level, seed=seed) for key, column in table.series.items()}


def summarize_column(column: Column, *, level: float = 0.95, seed: int = 0) -> Summary:
    """Summarise one series."""
    statuses = Counter(column.statuses)
    scored = statuses.pop("ok", 0)
    not_applicable = statuses.pop("not_applicable", 0)
    failed = sum(statuses.values())
    values, clusters = prompt_values(column)
    whole_set = scored > 0 and all(
        sample is None
        for sample, value in zip(column.sample_ids, column.values, strict=True)
        if value is not None
    )
    interval = column.interval if whole_set else cluster_interval(values, clusters, level=level, seed=seed)
    if interval is not None and column.scale is not None:
        interval = max(interval[0], column.scale.low), min(interval[1], column.scale.high)
    n, prompts = (scored, len(values)) if not whole_set else column.made_of or (scored, 0)
    return Summary(
        n=n,
        prompts=prompts,
        clusters=0 if whole_set else len(set(clusters)),
        mean=float(np.mean(values)) if values else None,
        ci=interval,
        method="none" if interval is None else "scorer" if whole_set else interval_method(clusters),
        level=level,
        coverage=scored / (scored + failed) if scored + failed else None,
        failures=dict(sorted(statuses.items())),
        not_applicable=not_applicable,
        signatures=tuple(sorted(column.signatures)),
        scale=column.scale,
    )


def reduce_repeats(values: Sequence[float], reducer: Reducer, *, higher_is_better: bool = True) -> float:
    """Return the value of a prompt from those of its repeats.

    Args:
        values: At least one.
        reducer: ``median`` is the mean of the middle two where the number is even; of several modes the
            worst counts.
        higher_is_better: Which end is worst.

    Examples:
        >>> values = [0.0, 0.5, 0.5, 1.0]
        >>> [reduce_repeats(values, how) for how in ("mean", "median", "mode", "worst", "best")]
        [0.5, 0.5, 0.5, 0.0, 1.0]
        >>> reduce_repeats([0, 1], "mode"), reduce_repeats([0, 1], "worst", higher_is_better=False)
        (0.0, 1.0)
    """
    worst, best = (min, max) if higher_is_better else (max, min)
    if reducer == "mode":
        counts = Counter(values)
        most = max(counts.values())
        return float(worst(value for value, count in counts.items() if count == most))
    if reducer in ("worst", "best"):
        return float(worst(values) if reducer == "worst" else best(values))
    return float(np.mean(values) if reducer == "mean" else np.median(values))


def prompt_values(column: Column) -> tuple[list[float], list[str]]:
    """Return the value of each prompt from its scored repeats, and its cluster, in order of appearance."""
    repeats: dict[str | None, list[float]] = {}
    clusters: dict[str | None, str] = {}
    for sample, cluster, value in zip(column.sample_ids, column.clusters, column.values, strict=True):
        if value is not None:
            repeats.setdefault(sample, []).append(value)
            clusters[sample] = cluster
    up = column.scale is None or column.scale.higher_is_better
    found = [reduce_repeats(one, column.reducer, higher_is_better=up) for one in repeats.values()]
    return found, [clusters[sample] for sample in repeats]

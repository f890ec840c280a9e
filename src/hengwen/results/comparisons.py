"""Paired tests between the checkpoints of one report, corrected for the number of tests.

Each checkpoint is compared with the previous checkpoint, and the last with the baseline (the pinned run, or
else the first checkpoint), on the prompts that both checkpoints answered. Looking at whether two confidence
intervals overlap does not replace a paired test, because both checkpoints answer the same prompts. All tests
of a report together have an error of 5 %: if no score changes, at most one report in twenty names a
difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from hengwen.results.aggregate import value_by_prompt
from hengwen.results.coverage import MIN_COVERAGE, answers_by_prompt, coverages
from hengwen.results.score_table import SeriesKey
from hengwen.stats.difference_interval import difference_interval
from hengwen.stats.paired import PairedTest, enough_clusters, holm, sign_flip_test, too_few

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.records import Kind, Scale
    from hengwen.results.comparability import ComparabilityKey
    from hengwen.results.score_table import Column, ScoreTable
    from hengwen.score_id import ScoreId

ALPHA = 0.05
"""Probability that a report names a difference although no true difference exists (familywise error)."""
MIN_PROMPT_COVERAGE = MIN_COVERAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSeries:
    """The value of each prompt for one score, at each checkpoint in training order."""

    address: str
    """``TASK/SCORE``."""
    values: tuple[Mapping[str, float], ...]
    """For each checkpoint, the value of each prompt; empty if the checkpoint does not have the score."""
    clusters: Mapping[str, str]
    """The cluster of each prompt: a group of prompts that depend on each other."""
    coverages: tuple[float, ...]
    """For each checkpoint, the share of prompts or of answers that have a value, whichever is lower."""
    signatures: tuple[str, ...]
    """For each checkpoint, the signature of the scorer; only checkpoints with equal signatures are
    compared."""
    keys: tuple[ComparabilityKey, ...] = ()
    """For each checkpoint, the comparability key: a description of the data behind the score, such as prompts
    and references. Checkpoints whose known keys differ are not compared. The tuple is empty if no key is
    known."""
    scale: Scale | None = None
    """Range of the values; None if it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Result of one paired test between two checkpoints."""

    address: str
    earlier: int
    """Index of the earlier checkpoint."""
    later: int
    test: PairedTest
    p_adjusted: float
    """The p-value, adjusted by Holm's method for all tests of the report."""
    detectable: float | None
    """Smallest true difference that the test detects with a probability of 80 %, at a level of 5 % divided by
    the number of tests."""
    interval: tuple[float, float] | None = None
    """95 % confidence interval of the difference, not corrected for the number of tests. It is None if all
    differences are equal and the score has no scale."""

    @property
    def significant(self) -> bool:
        """Whether the adjusted p-value is at most 5 %."""
        return self.p_adjusted <= ALPHA


def score_series(
    table: ScoreTable,
    run_ids: Sequence[str],
    score: ScoreId,
    kind: Kind,
    keys: Sequence[ComparabilityKey] = (),
) -> ScoreSeries:
    """Return the value of each prompt for one score, in each of several runs."""
    columns = [table.series.get(SeriesKey(run_id, score, kind)) for run_id in run_ids]
    answers = [
        {} if column is None or None in column.sample_ids else answers_by_prompt(column) for column in columns
    ]
    points = [PromptPoints.from_column(column) for column in columns]
    clusters: dict[str, str] = {}
    for point in points:
        clusters |= point.clusters
    return ScoreSeries(
        address=score.address,
        values=tuple(point.values for point in points),
        clusters=clusters,
        coverages=tuple(coverage.least for coverage in coverages(answers)),
        signatures=tuple(" + ".join(sorted(column.signatures)) if column else "" for column in columns),
        keys=tuple(keys),
        scale=next((column.scale for column in columns if column and column.scale), None),
    )


class PromptPoints(NamedTuple):
    """The value of each prompt for one score at one checkpoint."""

    values: dict[str, float]
    clusters: dict[str, str]

    @classmethod
    def from_column(cls, column: Column | None) -> PromptPoints:
        """Return the value of each prompt in a column; values of groups of answers are left out."""
        if column is None:
            return cls({}, {})
        cluster_of = {
            sample: cluster
            for sample, cluster, status in zip(
                column.sample_ids, column.clusters, column.statuses, strict=True
            )
            if sample is not None and status != "not_applicable"
        }
        values = {name: value for name, value in value_by_prompt(column).items() if name is not None}
        return cls(values, cluster_of)


def comparable_pairs(item: ScoreSeries, baseline: int = 0) -> list[tuple[int, int]]:
    """Return the indices of the checkpoints to compare, in pairs."""
    last = len(item.values) - 1
    pairs = list(pairwise(range(len(item.values))))
    if baseline < last - 1:
        pairs.append((baseline, last))
    return [
        (earlier, later)
        for earlier, later in pairs
        if min(item.coverages[earlier], item.coverages[later]) >= MIN_PROMPT_COVERAGE
        and _same_scoring(item, earlier, later)
        and item.values[earlier].keys() & item.values[later].keys()
    ]


def compare_checkpoints(series: Sequence[ScoreSeries], baseline: int = 0) -> list[Comparison]:
    """Test each checkpoint against the one before it, and the last against the baseline, for every score."""
    pairs = [
        (item, earlier, later, sorted(item.values[earlier].keys() & item.values[later].keys()))
        for item in series
        for earlier, later in comparable_pairs(item, baseline)
    ]
    enough = enough_clusters([_cluster_count(pair[0], pair[3]) for pair in pairs], ALPHA)
    pairs = [pair for pair, is_enough in zip(pairs, enough, strict=True) if is_enough]
    tests = {
        f"{index}": sign_flip_test(
            [item.values[earlier][prompt] for prompt in prompts],
            [item.values[later][prompt] for prompt in prompts],
            [item.clusters.get(prompt, prompt) for prompt in prompts],
        )
        for index, (item, earlier, later, prompts) in enumerate(pairs)
    }
    adjusted = holm({name: test.p for name, test in tests.items()})
    return [
        Comparison(
            address=item.address,
            earlier=earlier,
            later=later,
            test=tests[f"{index}"],
            p_adjusted=adjusted[f"{index}"],
            detectable=tests[f"{index}"].detectable(ALPHA / len(pairs)),
            interval=_interval(item, earlier, later, prompts),
        )
        for index, (item, earlier, later, prompts) in enumerate(pairs)
    ]


def min_clusters(tests: int, alpha: float = ALPHA) -> int:
    """Return the smallest number of clusters with which one of ``tests`` tests can be significant."""
    clusters = 2
    while too_few(clusters, tests, alpha):
        clusters += 1
    return clusters


def _same_scoring(item: ScoreSeries, earlier: int, later: int) -> bool:
    if item.signatures[earlier] != item.signatures[later]:
        return False
    return not item.keys or not item.keys[earlier].differences(item.keys[later])


def _interval(
    item: ScoreSeries, earlier: int, later: int, prompts: Sequence[str]
) -> tuple[float, float] | None:
    differences = [item.values[later][prompt] - item.values[earlier][prompt] for prompt in prompts]
    clusters = [item.clusters.get(prompt, prompt) for prompt in prompts]
    scale = None if item.scale is None else (item.scale.low, item.scale.high)
    return difference_interval(
        differences, clusters, scale=scale, continuous=item.scale is not None and not item.scale.discrete
    ).bounds


def _cluster_count(item: ScoreSeries, prompts: Sequence[str]) -> int:
    return len({item.clusters.get(prompt, prompt) for prompt in prompts})

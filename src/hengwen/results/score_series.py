"""The value of each prompt for one score, at the checkpoints of a report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hengwen.results.aggregate import value_by_prompt
from hengwen.results.coverage import answers_by_prompt, coverages
from hengwen.results.score_matrix import ScoreMatrix
from hengwen.results.score_table import Column, SeriesKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.records import Kind, Scale
    from hengwen.results.comparability import ComparabilityKey
    from hengwen.results.score_table import ScoreTable
    from hengwen.score_id import ScoreId


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
    task: str = ""
    repeats: ScoreMatrix | None = field(default=None, compare=False, repr=False)
    """All repeats of all prompts, if checkpoints have different numbers of them; tests use equally many."""

    @property
    def higher_is_better(self) -> bool:
        """Whether higher values are better; True if there is no scale."""
        return self.scale is None or self.scale.higher_is_better


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
        task=score.task,
        repeats=_unequal_repeats([column or Column() for column in columns]),
    )


def _unequal_repeats(columns: Sequence[Column]) -> ScoreMatrix | None:
    """Return all repeats, if prompts have different numbers of scored repeats in different columns."""
    counts = [np.bincount(column.keys.prompts[1][column.is_scored]) for column in columns]
    if len({int(count) for of_column in counts for count in np.unique(of_column[of_column > 0])}) < 2:
        return None
    matrix = ScoreMatrix()
    for column in columns:
        matrix.add(column)
    return matrix if matrix.has_unequal_repeats() else None


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

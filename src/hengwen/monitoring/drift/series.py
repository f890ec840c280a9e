"""``TestedSeries``: the checkpoints of one score that are tested, with the values of their prompts."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from hengwen.monitoring.drift.collect import CollectedScore
from hengwen.monitoring.drift.score_drift import CheckpointMean, LeftOut
from hengwen.results.score_series import ScoreMatrix, ScoreSeries, adjusted_means, pairs_to_test
from hengwen.stats.checkpoints import VarianceBySource, mean_variance, variance_by_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(slots=True, kw_only=True)
class TestedSeries:
    """One score at the checkpoints that are comparable and sufficiently scored."""

    __test__ = False

    score: CollectedScore
    included: tuple[int, ...]
    """Indices, among the runs of the report, of the checkpoints that are tested."""
    left_out: tuple[LeftOut, ...]
    has_newest: bool
    """Whether the newest checkpoint is tested."""
    table: Floats
    """Value of each prompt at each checkpoint, shape (prompts, checkpoints); NaN if missing."""
    counts: NDArray[np.int64]
    """For each prompt and checkpoint, the number of repeats with a score, in the shape of ``table``."""
    means: Floats
    """Mean of each checkpoint, adjusted for missing prompts."""

    @classmethod
    def of(cls, score: CollectedScore) -> TestedSeries:
        """Return the checkpoints of a score that can be tested."""
        included, left_out = score.included()
        matrix = score.matrix
        empty = np.empty((len(matrix.prompts), 0))
        counts = matrix.counts(included) if included else empty.astype(np.int64)
        unequal_limits = None
        if matrix.reducer != "mean" and included:  # the worst of 5 repeats tends to be below that of 3
            unequal_limits = _fewest(counts)
        table = matrix.means(unequal_limits, included) if included else empty
        return cls(
            score=score,
            included=tuple(included),
            left_out=left_out,
            has_newest=bool(included) and included[-1] == len(score.labels) - 1,
            table=table,
            counts=counts,
            means=adjusted_means(table) if included else np.empty(0),
        )

    @property
    def matrix(self) -> ScoreMatrix:
        """The scored repeats of all checkpoints."""
        return self.score.matrix

    @property
    def labels(self) -> list[str]:
        """Names of the tested checkpoints."""
        return [self.score.labels[index] for index in self.included]

    @property
    def checkpoints(self) -> int:
        """Number of tested checkpoints."""
        return len(self.included)

    def checkpoint_means(self) -> tuple[CheckpointMean, ...]:
        """Return the mean of each checkpoint with its number of prompts."""
        prompts = (~np.isnan(self.table)).sum(axis=0)
        coverages = self.matrix.coverages(self.included)
        return tuple(
            CheckpointMean(
                checkpoint=label,
                mean=float(mean),
                prompts=0 if self.matrix.is_group_score else int(n),
                coverage=coverages[index].prompts,
                answer_coverage=coverages[index].answers,
            )
            for label, mean, n, index in zip(self.labels, self.means, prompts, self.included, strict=True)
        )

    def pairs(self) -> list[tuple[int, int]]:
        """Return the positions of the checkpoints to compare, in pairs with common prompts."""
        scored = ~np.isnan(self.table)
        return [
            (earlier, later)
            for earlier, later in pairs_to_test(self.means.tolist(), self.matrix.higher_is_better)
            if (scored[:, earlier] & scored[:, later]).any()
        ]

    def score_series(self) -> ScoreSeries:
        """Return the pairs of checkpoints with their values, for the test of all pairs."""
        pairs, included, differences = self.pairs(), list(self.included), None
        if self.matrix.has_unequal_repeats(self.included):
            in_matrix = [(included[earlier], included[later]) for earlier, later in pairs]
            differences = self.matrix.differences(in_matrix)
        return ScoreSeries(
            address=self.score.address,
            task=self.score.id.task,
            scale=self.score.scale,
            clusters=self.matrix.clusters,
            values=self.table,
            pairs=pairs,
            differences=differences,
        )

    def variance(self) -> VarianceBySource | None:
        """Return the variance of the score by source; None for a score that is one value for all answers."""
        if self.matrix.is_group_score:
            return None
        return variance_by_source(self.table, self.counts, self.matrix.repeat_variance(self.included))

    def mean_variance(self) -> float | None:
        """Return the squared standard error of a checkpoint's mean; None if unknown."""
        if self.matrix.is_group_score:
            variances = [self.score.variances[index] for index in self.included]
            known = [variance for variance in variances if variance is not None]
            return fmean(known) if known and len(known) == len(variances) else None
        return mean_variance(self.table, self.matrix.clusters)


def _fewest(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each prompt the smallest number of scored repeats; checkpoints without any are ignored."""
    counts = np.where(counts == 0, np.iinfo(np.int64).max, counts)
    return np.asarray(counts.min(axis=1), np.int64)

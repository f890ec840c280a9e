"""The trajectory of a score over checkpoints: the means at both ends, and the metrics of their order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hengwen.relevance_metrics.sequence_metrics import (
    MAIN_METRICS,
    Metric,
    SequenceMetric,
    enough_windows,
    significance,
)
from hengwen.relevance_metrics.summary import MetricResult, metric_result
from hengwen.text.language import Bilingual
from hengwen.text.numbers import number

if TYPE_CHECKING:
    from numpy.typing import NDArray


ORDER = 3
"""Number of consecutive checkpoint means in an ordinal pattern."""
MIN_WINDOWS = enough_windows(ORDER)
"""Minimum number of patterns for a metric that counts them; with fewer, it is mostly bias."""
MIN_LONG_BLOCKS = 100
"""Minimum number of means for blocks of twice the square root of their number."""
MIN_BLOCKED = 25
"""Minimum number of checkpoints for random orders that keep neighbours together in blocks: 25 checkpoints are
five blocks, which have 120 orders."""
NO_REASON = Bilingual("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """Means of a score at the first and the last checkpoint, and metrics of how the means rise and fall."""

    n: int
    """Number of checkpoints."""
    first: float | None = None
    last: float | None = None
    metrics: Mapping[Metric, MetricResult] = field(default_factory=dict)
    """Result of each main metric; without those for which there are too few checkpoints."""
    block_p: Mapping[Metric, float] = field(default_factory=dict)
    """p-value of each metric over random orders that keep blocks of neighbouring checkpoints together. Use
    these p-values if each mean may depend on the mean before. Empty below 25 checkpoints."""
    block: int = 0
    """Number of neighbouring checkpoints in a block; 0 if ``block_p`` is empty."""
    reason: Bilingual = NO_REASON
    """Why a metric is missing."""

    def value(self, metric: SequenceMetric) -> float | None:
        """Return the value of a metric, a whole number for counts; None if it is missing."""
        result = self.metrics.get(metric.name)
        return None if result is None else result.value if metric.decimals else int(result.value)

    def text(self, metric: SequenceMetric) -> str:
        """Return the value of a metric as a text, with the largest possible value if there is one."""
        value = self.value(metric)
        maximum = "" if value is None or metric.maximum is None else f"/{metric.maximum(self.n)}"
        return number(value, metric.decimals) + maximum

    @property
    def is_compared(self) -> bool:
        """Whether the means can be compared; otherwise ``reason`` says why not."""
        return bool(self.metrics)

    @property
    def windows(self) -> int:
        """Number of ordinal patterns."""
        return max(0, self.n - ORDER + 1)

    @property
    def too_short(self) -> bool:
        """Whether a metric of ordinal patterns is mostly bias."""
        return self.windows < MIN_WINDOWS


def trajectory_of_means(means: NDArray[np.float64] | list[float], *, n_perm: int = 0) -> Trajectory:
    """Return the trajectory of at least two means; its metrics are tested with ``n_perm`` random orders."""
    row = np.asarray(means, np.float64)
    n = len(row)
    metrics = [metric for metric in MAIN_METRICS if metric.windows(n, ORDER, 1) != 0]
    if not n_perm:
        results = {
            metric.name: MetricResult(value=float(metric.evaluate(row[None], ORDER, 1)[0]))
            for metric in metrics
        }
        return Trajectory(n=n, first=means[0], last=means[-1], metrics=results, reason=_too_few(n))
    factor = 2 if n >= MIN_LONG_BLOCKS else 1  # fewer than 5 blocks have too few orders for any p below .05
    block = round(factor * n**0.5) if n >= MIN_BLOCKED else 0
    return Trajectory(
        n=n,
        first=float(means[0]),
        last=float(means[-1]),
        metrics={metric.name: metric_result(row, metric, ORDER, 1, n_perm, seed=0) for metric in metrics},
        block_p={
            metric.name: significance(row, metric.name, n_perm=n_perm, null="block", block=block).p
            for metric in (metrics if block else ())
        },
        block=block,
        reason=_too_few(n),
    )


def _too_few(n: int) -> Bilingual:
    missing = "、".join(metric.symbol for metric in MAIN_METRICS if metric.windows(n, ORDER, 1) == 0)
    if not missing:
        return NO_REASON
    return Bilingual(
        f"{missing} 需要 {ORDER} 个检查点，现有 {n} 个",
        f"{missing.replace('、', ' and ')} needs {ORDER} checkpoints, there are {n}",
    )

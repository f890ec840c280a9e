"""Estimate how much two checkpoints would differ if their answers were equally long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.mean_interval import cluster_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

MIN_CLUSTERS = 10
"""Minimum number of clusters of prompts to estimate the effect of the length of answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualLengthDifference:
    """Expected score difference of two checkpoints if both answers to a prompt are equally long."""

    difference: float | None
    """The expected difference; None if it cannot be estimated, for the reason in ``reason``."""
    interval: tuple[float, float] | None
    """95 % confidence interval of the difference, from Student's t and a jackknife standard error over
    clusters."""
    length_ratio: float
    """(1 + length of the later answer) / (1 + length of the earlier answer): the geometric mean over
    prompts."""
    reason: str = ""
    """Reason why the difference cannot be estimated: ``few prompts`` (fewer than 10 clusters) or ``same
    ratio`` (all lengths changed by the same ratio); otherwise empty."""


def equal_length_difference(
    differences: ArrayLike, length_changes: ArrayLike, clusters: Sequence[str] | None = None
) -> EqualLengthDifference:
    """The score difference at equal length: the intercept of a regression on the change of log length."""
    y, x = np.asarray(differences, np.float64), np.asarray(length_changes, np.float64)
    ratio = float(np.exp(x.mean()))
    sum_x, sizes = cluster_sums(x, clusters)
    groups = len(sizes)
    if groups < MIN_CLUSTERS:
        return EqualLengthDifference(difference=None, interval=None, length_ratio=ratio, reason="few prompts")
    sums = np.array([sizes, sum_x, *(cluster_sums(values, clusters)[0] for values in (y, x * x, x * y))])
    total = sums.sum(axis=1)
    without = total[:, None] - sums
    n, sx, sy, sxx, sxy = np.column_stack((total, without))
    spread = n * sxx - sx * sx
    if spread.min() <= 1e-9 * max(float(n[0] * sxx[0]), 1e-300):
        return EqualLengthDifference(difference=None, interval=None, length_ratio=ratio, reason="same ratio")
    intercepts = (sy * sxx - sx * sxy) / spread
    from scipy.special import stdtrit

    error = np.sqrt((groups - 1) / groups * np.square(intercepts[1:] - intercepts[0]).sum())
    freedom = float(sizes.sum() ** 2 / np.square(sizes).sum()) - 2
    half = float(stdtrit(freedom, 0.975) * error) if freedom > 0 else None
    centre = float(intercepts[0])
    return EqualLengthDifference(
        difference=centre,
        interval=None if half is None else (centre - half, centre + half),
        length_ratio=ratio,
    )

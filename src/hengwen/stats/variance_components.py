"""Split the variance of values into a part between groups and a part within them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.mean_interval import cluster_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponents:
    """Variance of values that form groups: value = mean + effect of the group + rest."""

    between: float
    """Variance of the true means of the groups, >= 0; the variance of all values if ``within`` is None."""
    within: float | None
    """Variance of the values within a group, pooled over groups; None if every group has one value."""


def variance_components(values: ArrayLike, groups: Sequence[str]) -> VarianceComponents:
    """Estimate the variance components of a one-way random-effects model; groups may differ in size."""
    array = np.asarray(values, np.float64)
    if len(array) != len(groups):
        raise ValueError(f"{len(array)} values but {len(groups)} groups")
    sums, sizes = cluster_sums(array, groups)
    count, n = len(sums), len(array)
    if count < 2:
        raise ValueError(f"variance components need at least two groups, got {count}")
    if count == n:
        return VarianceComponents(between=float(array.var(ddof=1)), within=None)
    centred, _ = cluster_sums(array - array.mean(), groups)
    square_between = float((centred**2 / sizes).sum())
    square_within = max(0.0, float(np.square(array - array.mean()).sum()) - square_between)
    within = square_within / (n - count)
    size = (n - float(np.square(sizes).sum()) / n) / (count - 1)
    between = max(0.0, (square_between / (count - 1) - within) / size)
    return VarianceComponents(between=between, within=within)

"""Compute confidence intervals of a mean difference over prompts; significance is tested in ``paired``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.mean_interval import cluster_sums, jackknife, mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

Bounds = tuple[float, float]

MAX_EQUAL_SHARE = 0.5
"""If at least this share of prompts has the same difference, a plain t interval is too narrow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceInterval:
    """Two confidence intervals of a mean difference, by default at 95 %; reports show ``bounds``."""

    t: Bounds | None
    """Student's t interval over clusters; None if there are fewer than two clusters, or if all differences
    are equal."""
    t_p: float | None
    """Two-sided p-value of the t test that belongs to the interval ``t``; None if ``t`` is None."""
    pseudo: Bounds | None
    """Student's t interval with one pseudo-observation at each end of the scale of differences. None on an
    unbounded scale, or if there are fewer than two clusters."""
    equal_share: float
    """Share of the prompts that have the most common difference."""

    @property
    def bounds(self) -> Bounds | None:
        """Interval to show: ``pseudo`` if half or more differences are equal or ``t`` is None, else ``t``."""
        if self.pseudo is not None and (self.t is None or self.equal_share >= MAX_EQUAL_SHARE):
            return self.pseudo
        return self.t


def difference_interval(
    differences: ArrayLike,
    clusters: Sequence[str] | None = None,
    *,
    scale: Bounds | None = None,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> DifferenceInterval:
    """Return two confidence intervals of a mean difference: Student's t, and t with pseudo-observations."""
    array = np.asarray(differences, np.float64)
    reach = None if scale is None else (scale[0] - scale[1], scale[1] - scale[0])
    plain = mean_interval(array, clusters, weights=weights, confidence=confidence).bounds
    pseudo = (
        None
        if reach is None
        else mean_interval(array, clusters, scale=reach, weights=weights, confidence=confidence).bounds
    )
    return DifferenceInterval(
        t=plain,
        t_p=None if plain is None else _t_p(array, clusters, weights),
        pseudo=pseudo,
        equal_share=max(Counter(np.round(array, 12).tolist()).values()) / len(array),
    )


def _t_p(array: NDArray[np.float64], clusters: Sequence[str] | None, weights: ArrayLike | None) -> float:
    from scipy.special import stdtr

    mean, error, freedom = jackknife(*cluster_sums(array, clusters, weights))
    return float(2 * stdtr(freedom, -abs(mean) / error))

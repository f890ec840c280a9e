"""Compute confidence intervals of a mean difference over prompts; significance is tested in ``paired``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.mean_interval import Bounds, cluster_sums, jackknife, mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceInterval:
    """Two confidence intervals of a mean difference, by default at 95 %; reports show ``bounds``."""

    t: Bounds | None
    """Student's t interval over clusters; None if there are fewer than two clusters, or if all differences
    are equal."""
    t_p: float | None
    """Two-sided p-value of the t test that belongs to the interval ``t``; None if ``t`` is None."""
    pseudo: Bounds | None
    """Student's t interval with a pseudo-cluster at plus and minus ``reach``. None on an unbounded scale, or
    if there are fewer than two clusters."""
    reach: float | None
    """Largest difference of prompts like those not seen, for which ``pseudo`` holds; None if ``pseudo`` is
    None."""

    @property
    def bounds(self) -> Bounds | None:
        """Interval to show: ``pseudo``, or ``t`` on an unbounded scale."""
        return self.pseudo or self.t


def difference_interval(
    differences: ArrayLike,
    clusters: Sequence[str] | None = None,
    *,
    scale: Bounds | None = None,
    continuous: bool = False,
    reach: float = 0.0,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> DifferenceInterval:
    """Return two confidence intervals of a mean difference: Student's t, and t with pseudo-clusters.

    The differences of prompts that are not in the sample reach as far as the range of the scale or, for a
    continuous score, as far as the largest difference in the sample, and at least ``reach``.
    """
    array = np.asarray(differences, np.float64)
    plain = mean_interval(array, clusters, weights=weights, confidence=confidence).bounds
    pseudo = None
    if scale is not None:
        span = scale[1] - scale[0]
        is_varied = float(np.ptp(array)) > 1e-12 * span  # equal differences say nothing about others
        reach = min(max(float(np.abs(array).max()), reach), span) if continuous and is_varied else span
        pseudo = mean_interval(
            array,
            clusters,
            scale=(-span, span),
            ends=(-reach, reach),
            weights=weights,
            confidence=confidence,
        ).bounds
    return DifferenceInterval(
        t=plain,
        t_p=None if plain is None else _t_p(array, clusters, weights),
        pseudo=pseudo,
        reach=None if pseudo is None else reach,
    )


def _t_p(array: NDArray[np.float64], clusters: Sequence[str] | None, weights: ArrayLike | None) -> float:
    from scipy.special import stdtr

    mean, error, freedom = jackknife(*cluster_sums(array, clusters, weights))
    return float(2 * stdtr(freedom, -abs(mean) / error))

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
    """Student's t interval with a pseudo-cluster at plus and minus ``reach``. None if ``reach`` is None, or
    if there are fewer than two clusters."""
    reach: float | None
    """Largest difference of prompts like those not seen, for which ``pseudo`` holds; None if ``pseudo`` is
    None."""

    @property
    def bounds(self) -> Bounds | None:
        """Interval to show: ``pseudo``, or ``t`` if nothing limits the differences."""
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

    The pseudo-clusters are those of ``pseudo_interval``.
    """
    array = np.asarray(differences, np.float64)
    plain = mean_interval(array, clusters, weights=weights, confidence=confidence).bounds
    limit = unseen_reach(array, scale, continuous=continuous, reach=reach)
    pseudo = None
    if limit is not None:
        pseudo = pseudo_interval(
            array, clusters, limit, scale, continuous=continuous, weights=weights, confidence=confidence
        )
    return DifferenceInterval(
        t=plain,
        t_p=None if plain is None else _t_p(array, clusters, weights),
        pseudo=pseudo,
        reach=None if pseudo is None else limit,
    )


def unseen_reach(
    differences: ArrayLike, scale: Bounds | None, *, continuous: bool, reach: float = 0.0
) -> float | None:
    """Return how far prompts that are not in the sample may differ; None if nothing tells.

    Differences of a discrete score reach as far as the range of the scale, those of a continuous score as far
    as the largest one in the sample, and at least ``reach``. If that is 0, they reach as far as the scale.
    """
    span = None if scale is None else scale[1] - scale[0]
    if not continuous:
        return span
    largest = max(float(np.abs(differences).max()), reach)
    if largest <= 1e-12 * (span or 1.0):  # equal checkpoints say nothing about others
        return span
    return largest if span is None else min(largest, span)


def pseudo_interval(
    differences: NDArray[np.float64],
    clusters: Sequence[str] | None,
    reach: float,
    scale: Bounds | None,
    *,
    continuous: bool,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Bounds | None:
    """Return the t interval of differences and of a pseudo-cluster at plus and minus ``reach``.

    The weights of pseudo-clusters are those of the interval of a mean (``mean_interval``).
    """
    limits = None if scale is None else (scale[0] - scale[1], scale[1] - scale[0])
    return mean_interval(
        differences,
        clusters,
        scale=limits,
        ends=(-reach, reach),
        continuous=continuous,
        weights=weights,
        confidence=confidence,
    ).bounds


def _t_p(array: NDArray[np.float64], clusters: Sequence[str] | None, weights: ArrayLike | None) -> float:
    from scipy.special import stdtr

    mean, error, freedom = jackknife(*cluster_sums(array, clusters, weights))
    return float(2 * stdtr(freedom, -abs(mean) / error))

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
    """Return two confidence intervals of a mean difference: Student's t, and t with pseudo-observations.

    If most prompts have equal values at both checkpoints, such as near the top of a scale, a few prompts
    decide the width of a t interval, and its width may be zero. So if at least half of the differences are
    equal, ``bounds`` is the interval with two pseudo-observations (plus and minus the range of the scale),
    which is wider. If the differences vary, as differences of totals from 0 to 100 do, the
    pseudo-observations would outweigh the data, so ``bounds`` is the plain t interval.

    Args:
        differences: Later minus earlier value of each prompt, shape (n,), n >= 1.
        clusters: Cluster (group of dependent prompts) of each prompt; None if all prompts are independent.
        scale: The lowest and the highest value of the score; None if values are unbounded.
        weights: A positive weight for each prompt; None if all weights are equal.
        confidence: Confidence level of each of the two intervals, in (0, 1).

    Examples:
        >>> result = difference_interval([0.25, -0.25, 0.5, 0.0, 0.25, 0.5], scale=(0, 1))
        >>> [round(bound, 3) for bound in result.bounds], round(result.t_p, 3)
        ([-0.098, 0.515], 0.141)
        >>> difference_interval([0.0] * 20, scale=(0, 1)).t is None
        True
        >>> low, high = difference_interval([0.0] * 20, scale=(0, 1)).bounds
        >>> round(low, 3), round(high, 3)
        (-0.137, 0.137)
    """
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

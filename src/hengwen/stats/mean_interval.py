"""Confidence interval of a mean over prompts that may come in clusters.

On a bounded scale a plain t interval (or a bootstrap) is far too narrow where most values lie on one end:
for ten prompts, of which 90 % have the best value, it covers the truth in 65 of 100 samples instead of 95.
One pseudo-prompt at each end of the scale repairs that: the interval covers at least .93 in all designs of
``tests/stats/test_mean_interval_coverage.py``, and it is never of zero width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanInterval:
    """A two-sided confidence interval of a mean, or the reason why there is none."""

    low: float | None
    high: float | None
    effective_clusters: float
    """(sum k)^2 / sum k^2 over the clusters of k prompts: the number of clusters where all have one size."""
    reason: str = ""
    """Why there is no interval; empty where there is one."""

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The interval as (low, high), None where there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def mean_interval(
    values: ArrayLike,
    clusters: Sequence[str] | None = None,
    *,
    scale: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> MeanInterval:
    """Return the interval of the mean of prompt values.

    The interval is Student's t on a jackknife standard error over clusters, with (sum k)^2 / sum k^2 - 1
    degrees of freedom. On a scale, one pseudo-prompt at each of its ends is added first, and the interval is
    cut to the scale. The centre therefore lies a little nearer to the middle of the scale than the mean.

    Args:
        values: One finite value a prompt, shape (n,).
        clusters: The cluster of each prompt; None: every prompt is a cluster of its own.
        scale: The lowest and the highest value that is possible; None where values are unbounded.
        confidence: Probability in (0, 1).

    Returns:
        An interval; none below two clusters, and none where an unbounded value does not vary.

    Raises:
        ValueError: The lengths differ, or ``confidence`` is not in (0, 1).

    Notes:
        O(n). Coverage and the comparison with t and BCa: Agresti and Coull (1998) for the idea of
        pseudo-observations, Cameron and Miller (2015) for the jackknife over clusters.

    Examples:
        >>> low, high = mean_interval([0.75] * 6, scale=(0, 1)).bounds
        >>> round(low, 2), round(high, 2)
        (0.44, 0.93)
        >>> low, high = mean_interval([1.0, 2.0, 3.0]).bounds
        >>> round(low, 4), round(high, 4)  # 2 -+ 4.3027 / sqrt(3)
        (-0.4841, 4.4841)
        >>> mean_interval([3.0, 3.0]).reason
        'all values are equal on an unbounded scale'
    """
    array = np.asarray(values, dtype=np.float64)
    check_confidence(confidence)
    if clusters is not None and len(clusters) != len(array):
        raise ValueError(f"{len(array)} values but {len(clusters)} clusters")
    sums, sizes = cluster_sums(array, clusters)
    effective = float(sizes.sum() ** 2 / np.square(sizes).sum()) if len(sizes) else 0.0
    if len(sizes) < 2:
        return MeanInterval(low=None, high=None, effective_clusters=effective, reason="one prompt or cluster")
    if scale is not None:
        sums, sizes = np.append(sums, scale), np.append(sizes, (1.0, 1.0))
    centre, error, freedom = _jackknife(sums, sizes)
    if scale is None and error <= 1e-12 * abs(centre):
        reason = "all values are equal on an unbounded scale"
        return MeanInterval(low=None, high=None, effective_clusters=effective, reason=reason)
    from scipy.special import stdtrit

    half = float(stdtrit(freedom, 0.5 + confidence / 2)) * error
    low, high = centre - half, centre + half
    if scale is not None:
        low, high = max(low, scale[0]), min(high, scale[1])
    return MeanInterval(low=low, high=high, effective_clusters=effective)


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless a confidence level lies in (0, 1)."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")


def cluster_sums(
    values: NDArray[np.float64], clusters: Sequence[str] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum of the values of each cluster, and the number of its prompts, shapes (clusters,).

    Examples:
        >>> sums, sizes = cluster_sums(np.array([1.0, 2.0, 4.0]), ["a", "b", "a"])
        >>> sums.tolist(), sizes.tolist()
        ([5.0, 2.0], [2.0, 1.0])
    """
    if clusters is None:
        return values, np.ones(len(values))
    codes: dict[str, int] = {}
    index = np.fromiter((codes.setdefault(name, len(codes)) for name in clusters), np.intp, len(clusters))
    if len(codes) == len(values):
        return values, np.ones(len(values))
    return np.bincount(index, weights=values).astype(np.float64), np.bincount(index).astype(np.float64)


def _jackknife(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the mean, its standard error (leaving out one cluster at a time) and degrees of freedom."""
    total, count, groups = sums.sum(), sizes.sum(), len(sums)
    mean = total / count
    without = (total - sums) / (count - sizes)
    error = np.sqrt((groups - 1) / groups * np.square(without - mean).sum())
    return float(mean), float(error), float(count**2 / np.square(sizes).sum() - 1)

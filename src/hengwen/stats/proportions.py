"""Compute confidence intervals of a proportion, such as the share of trials that succeed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.mean_interval import cluster_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def wilson(passed: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson interval of a proportion.

    Args:
        passed: Number of successes, from 0 to n; may be fractional if ``n`` is an effective number of trials.
        n: Number of trials, > 0.
        confidence: Confidence level, in (0, 1).

    Raises:
        ValueError: A number is out of range.

    Notes:
        Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.

    Examples:
        >>> [round(end, 4) for end in wilson(8, 8)]
        [0.6756, 1.0]
    """
    if not (0 <= passed <= n and n > 0 and 0 < confidence < 1):
        raise ValueError(f"no interval of {passed:g} of {n:g} at confidence {confidence:g}")
    from scipy.special import ndtri

    square = float(ndtri(0.5 + confidence / 2)) ** 2
    centre = (passed + square / 2) / (n + square)
    half = (square * (passed * (n - passed) / n + square / 4)) ** 0.5 / (n + square)
    return (0.0 if passed == 0 else centre - half), (1.0 if passed == n else centre + half)


def clustered_wilson(
    passed: Sequence[bool], clusters: Sequence[str], confidence: float = 0.95
) -> tuple[float, float]:
    """Return the Wilson interval of a proportion whose trials form clusters.

    Trials of one cluster tend to have the same result, so they count as fewer independent trials. The
    interval is the Wilson interval for an effective number of trials: n / design effect * (z / t)^2. Here, n
    is the number of trials, and z and t are the quantiles of the normal distribution and of Student's t. The
    effective number is limited to the range from the number of clusters to n. If each cluster has only one
    trial, the result equals that of ``wilson``.

    The design effect is the cluster-robust variance divided by the binomial variance. To compute the design
    effect, half a cluster of successes and half a cluster of failures are added. Without these trials, the
    design effect would be 0 if all trials have the same result.

    Args:
        passed: Whether each trial succeeded; at least one trial.
        clusters: Cluster (group of dependent trials) of each trial.
        confidence: Confidence level, in (0, 1).

    Raises:
        ValueError: The lists differ in length, or there are no trials.

    Notes:
        Korn and Graubard (1998), Survey Methodology 24, 193-201.

    Examples:
        >>> [round(end, 4) for end in clustered_wilson([True] * 16, list("aabbccddeeffgghh"))]
        [0.7099, 1.0]
        >>> [round(end, 4) for end in wilson(16, 16)]
        [0.8064, 1.0]
    """
    if len(passed) != len(clusters) or not passed:
        raise ValueError(f"{len(passed)} trials but {len(clusters)} clusters")
    sums, sizes = cluster_sums(np.asarray(passed, dtype=np.float64), clusters)
    n, groups, rate = len(passed), len(sizes), float(sums.sum()) / len(passed)
    effective = float(groups)
    if 1 < groups < n:
        from scipy.special import ndtri, stdtrit

        quantile = 0.5 + confidence / 2
        factor = (float(ndtri(quantile)) / float(stdtrit(groups - 1, quantile))) ** 2
        effective = min(max(n / _design_effect(sums, sizes) * factor, groups), n)
    return wilson(rate * effective, effective, confidence)


def _design_effect(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
    """Return the cluster-robust variance of a proportion divided by the binomial variance, at least 1."""
    size = float(sizes.mean()) / 2
    sums, sizes = np.append(sums, (0.0, size)), np.append(sizes, (size, size))
    groups, n = len(sizes), float(sizes.sum())
    rate = float(sums.sum()) / n
    variance = groups / (groups - 1) * float(np.square(sums - rate * sizes).sum()) / n**2
    return max(variance * n / (rate * (1 - rate)), 1.0)

"""Confidence intervals of a mean over clustered prompts."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MIN_BOOTSTRAP_CLUSTERS = 30
"""Clusters from which the bootstrap is used; with fewer its intervals are too narrow, those of t are not."""
RESAMPLES = 4999
"""Number of bootstrap samples."""


def interval_method(clusters: Sequence[str]) -> Literal["t", "bootstrap"]:
    """Return the method of the interval for these clusters."""
    return "bootstrap" if len(set(clusters)) >= MIN_BOOTSTRAP_CLUSTERS else "t"


def cluster_interval(
    values: Sequence[float], clusters: Sequence[str], *, confidence: float = 0.95, seed: int = 0
) -> tuple[float, float] | None:
    """Return the cluster-robust confidence interval of the mean of prompt values.

    Args:
        values: One value per prompt.
        clusters: Cluster of each prompt.
        confidence: Confidence level, in (0, 1).
        seed: Seed of the bootstrap.

    Returns:
        (low, high), or None below two clusters, which do not determine a spread.

    Raises:
        ValueError: The lengths differ, or confidence is not in (0, 1).

    Notes:
        With one prompt per cluster, t is the textbook interval: s / sqrt(n) with n - 1 degrees of freedom.

    Examples:
        >>> low, high = cluster_interval([1.0, 2.0, 3.0], ["a", "b", "c"])
        >>> round(low, 4), round(high, 4)  # 2 -+ 4.3027 / sqrt(3)
        (-0.4841, 4.4841)
        >>> cluster_interval([1.0], ["a"]) is None
        True
    """
    if len(values) != len(clusters):
        raise ValueError(f"{len(values)} values but {len(clusters)} clusters")
    check_confidence(confidence)
    names = sorted(set(clusters))
    if len(names) < 2:
        return None
    position = {name: i for i, name in enumerate(names)}
    labels = np.fromiter((position[name] for name in clusters), dtype=np.intp)
    sums = np.bincount(labels, weights=np.asarray(values, dtype=float)).astype(np.float64)
    counts = np.bincount(labels).astype(np.float64)
    if interval_method(clusters) == "t":
        return _t_interval(sums, counts, confidence)
    return _bootstrap_interval(sums, counts, confidence, seed)


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless a confidence level is in (0, 1)."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")


def _t_interval(
    sums: NDArray[np.float64], counts: NDArray[np.float64], confidence: float
) -> tuple[float, float]:
    """Return the linearised cluster-robust interval of sum(sums) / sum(counts)."""
    from scipy.special import stdtrit

    groups, total = len(sums), counts.sum()
    mean = sums.sum() / total
    residuals = sums - mean * counts
    error = np.sqrt(groups / (groups - 1) * np.square(residuals).sum()) / total
    half = float(stdtrit(groups - 1, 0.5 + confidence / 2)) * float(error)
    return float(mean) - half, float(mean) + half


def _bootstrap_interval(
    sums: NDArray[np.float64], counts: NDArray[np.float64], confidence: float, seed: int
) -> tuple[float, float]:
    """Return the BCa bootstrap interval of sum(sums) / sum(counts), or t where BCa is not finite."""
    from scipy.stats import bootstrap

    mean = float(sums.sum() / counts.sum())
    if np.allclose(sums, mean * counts, rtol=1e-12, atol=0.0):
        return mean, mean

    def ratio(total: NDArray[np.float64], count: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        quotient: NDArray[np.float64] = total.sum(axis=axis) / count.sum(axis=axis)
        return quotient

    interval = bootstrap(
        (sums, counts),
        ratio,
        paired=True,
        vectorized=True,
        confidence_level=confidence,
        n_resamples=RESAMPLES,
        batch=max(1, 2_000_000 // len(sums)),
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    low, high = float(interval.low), float(interval.high)
    if not (isfinite(low) and isfinite(high)):
        return _t_interval(sums, counts, confidence)
    return low, high

"""Confidence intervals of a mean over clustered prompts."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


BOOTSTRAP_FROM = 30
"""Clusters from which the bootstrap is used; below, percentile intervals are too narrow and t is not."""


RESAMPLES = 4999


def interval_method(clusters: Sequence[str]) -> Literal["t", "bootstrap"]:
    """Say which interval this many clusters get."""
    return "bootstrap" if len(set(clusters)) >= BOOTSTRAP_FROM else "t"


def cluster_interval(
    values: Sequence[float], clusters: Sequence[str], *, level: float = 0.95, seed: int = 0
) -> tuple[float, float] | None:
    """Return the interval of the mean of prompt values, robust to clusters.

    Args:
        values: One value a prompt.
        clusters: The cluster of each prompt.
        level: Of the interval, in (0, 1).
        seed: Of the bootstrap.

    Returns:
        (low, high), or None below two clusters: one prompt says nothing about others.

    Raises:
        ValueError: The lengths differ, or level is not in (0, 1).

    Notes:
        With clusters of one prompt, t is the textbook interval s / sqrt(n) with n - 1 degrees of freedom.

    Examples:
        >>> low, high = cluster_interval([1.0, 2.0, 3.0], ["a", "b", "c"])
        >>> round(low, 4), round(high, 4)  # 2 -+ 4.3027 / sqrt(3)
        (-0.4841, 4.4841)
        >>> cluster_interval([1.0], ["a"]) is None
        True
    """
    if len(values) != len(clusters):
        raise ValueError(f"{len(values)} values but {len(clusters)} clusters")
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")
    names = sorted(set(clusters))
    if len(names) < 2:
        return None
    index = {name: i for i, name in enumerate(names)}
    where = np.fromiter((index[name] for name in clusters), dtype=np.intp)
    sums = np.bincount(where, weights=np.asarray(values, dtype=float)).astype(np.float64)
    counts = np.bincount(where).astype(np.float64)
    if interval_method(clusters) == "t":
        return _t_interval(sums, counts, level)
    return _bootstrap_interval(sums, counts, level, seed)


def _t_interval(sums: NDArray[np.float64], counts: NDArray[np.float64], level: float) -> tuple[float, float]:
    """The linearised cluster-robust interval of sum(sums) / sum(counts)."""
    from scipy.special import stdtrit

    groups, total = len(sums), counts.sum()
    mean = sums.sum() / total
    residuals = sums - mean * counts
    error = np.sqrt(groups / (groups - 1) * np.square(residuals).sum()) / total
    half = float(stdtrit(groups - 1, 0.5 + level / 2)) * float(error)
    return float(mean) - half, float(mean) + half


def _bootstrap_interval(
    sums: NDArray[np.float64], counts: NDArray[np.float64], level: float, seed: int
) -> tuple[float, float]:
    from scipy.stats import bootstrap

    mean = float(sums.sum() / counts.sum())
    if np.allclose(sums, mean * counts, rtol=1e-12, atol=0.0):
        return mean, mean

    def ratio(total: NDArray[np.float64], count: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        quotient: NDArray[np.float64] = total.sum(axis=axis) / count.sum(axis=axis)
        return quotient

    found = bootstrap(
        (sums, counts),
        ratio,
        paired=True,
        vectorized=True,
        confidence_level=level,
        n_resamples=RESAMPLES,
        batch=max(1, 2_000_000 // len(sums)),
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    low, high = float(found.low), float(found.high)
    if not (isfinite(low) and isfinite(high)):
        return _t_interval(sums, counts, level)
    return low, high

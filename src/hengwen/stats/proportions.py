"""Compute confidence intervals of a proportion, such as the share of trials that succeed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.mean_interval import cluster_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def wilson(passed: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson interval of a proportion."""
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
    """Return the Wilson interval of a proportion whose trials form clusters."""
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

"""Paired comparison of two checkpoints on the same prompts by an exact sign-flip test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.mean_interval import cluster_sums

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

EXACT_UP_TO = 32
"""Largest number n of clusters (groups of dependent prompts) for which all 2^n sign patterns are counted; the
time is O(2^(n/2))."""
RESAMPLES = 9999
"""Number of random sign patterns that are drawn if there are more than ``EXACT_UP_TO`` clusters; the p-value
is then a multiple of 1e-4. If no drawn pattern is as extreme as the data, the p-value is the smaller of two
numbers: 1e-4, and ``MAX_TAIL_RATIO`` times the p-value from the normal distribution."""
MAX_TAIL_RATIO = 3.18
"""The probability that a weighted sum of random signs exceeds a bound is at most this many times the
probability for a normal variable of equal variance; proved by Bentkus and Dzindzalieta (2015)."""
NORMAL_FROM = 2000
"""Number of clusters above which the normal distribution replaces random sign patterns."""
BATCH_SIZE = 300_000
"""Number of random signs in memory at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """Result of the test whether two checkpoints differ on the prompts that both have scores for."""

    difference: float
    """Mean over prompts of the later value minus the earlier value."""
    p: float
    """Two-sided p-value, in (0, 1]."""
    prompts: int
    clusters: int
    error: float
    """Standard error of the difference, computed over clusters; 0 if all differences are equal."""


def sign_flip_test(
    earlier: ArrayLike, later: ArrayLike, clusters: Sequence[str] | None = None, *, seed: int = 0
) -> PairedTest:
    """Test whether two checkpoints differ, from their values of the same prompts."""
    before, after = np.asarray(earlier, np.float64), np.asarray(later, np.float64)
    if before.shape != after.shape or before.ndim != 1 or not len(before):
        raise ValueError(
            f"two equally long sequences are needed, got shapes {before.shape} and {after.shape}"
        )
    differences = after - before
    sums, sizes = cluster_sums(differences, clusters)
    mean = fsum(differences) / len(differences)
    return PairedTest(
        difference=mean,
        p=flip_p(sums, seed),
        prompts=len(differences),
        clusters=len(sums),
        error=cluster_error(sums, sizes, mean),
    )


def flip_p(sums: NDArray[np.float64], seed: int = 0) -> float:
    """Return the two-sided p-value of the sums of the differences of clusters."""
    moved = sums[sums != 0]  # a difference of 0 stays 0 under any sign
    if len(moved) < 2:  # both signs of one sum are equally extreme
        return 1.0
    if len(moved) > NORMAL_FROM:
        return _normal_p(moved)
    if len(moved) <= EXACT_UP_TO:
        return _exact_p(moved)
    from scipy.stats import monte_carlo_test

    generator = np.random.default_rng(seed)
    result = monte_carlo_test(
        moved,
        lambda size: moved * (2.0 * generator.integers(0, 2, size, dtype=np.int8) - 1.0),
        lambda flipped, axis: np.abs(flipped.sum(axis=axis)),
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=max(1, BATCH_SIZE // len(moved)),
        alternative="greater",
    )
    p, least = float(result.pvalue), 1 / (RESAMPLES + 1)
    return min(least, MAX_TAIL_RATIO * _normal_p(moved)) if p <= least else p


def _normal_p(sums: NDArray[np.float64]) -> float:
    from scipy.special import ndtr

    return max(float(2 * ndtr(-abs(sums.sum()) / sqrt(float(np.square(sums).sum())))), 5e-324)


def _exact_p(sums: NDArray[np.float64]) -> float:
    """Return the share of sign patterns whose sum is at least as far from 0 as the observed sum."""
    middle = len(sums) // 2
    left, right = _pattern_sums(sums[:middle]), np.sort(_pattern_sums(sums[middle:]))
    size = float(np.abs(sums).sum())
    least = abs(float(sums.sum())) - 1e-12 * size  # sums that differ only by rounding count as equal
    above = len(right) * len(left) - int(np.searchsorted(right, least - left, side="left").sum())
    return min(1.0, 2 * above / (len(left) * len(right))) if least > 0 else 1.0


def _pattern_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    totals = np.zeros(1)
    for value in values:
        totals = np.concatenate((totals + value, totals - value))
    return totals


def cluster_error(sums: NDArray[np.float64], sizes: NDArray[np.float64], mean: float) -> float:
    """Return the standard error of a mean over prompts, from the sums and sizes of clusters."""
    groups = len(sums)
    if groups < 2:
        return 0.0
    residuals = sums - mean * sizes
    return float(np.sqrt(groups / (groups - 1) * np.square(residuals).sum()) / sizes.sum())


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return, for the name of each test, its p-value adjusted by Holm's method."""
    ordered = sorted(p_values.items(), key=lambda item: item[1])
    adjusted: dict[str, float] = {}
    highest = 0.0
    for rank, (name, p) in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - rank) * p))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def benjamini_hochberg(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return, for the name of each test, its p-value adjusted by the method of Benjamini and Hochberg."""
    if not p_values:
        return {}
    from scipy.stats import false_discovery_control

    adjusted = false_discovery_control(list(p_values.values()))
    return {name: float(value) for name, value in zip(p_values, adjusted, strict=True)}


def enough_clusters(counts: Sequence[int], alpha: float = 0.05) -> list[bool]:
    """Return, for each test, whether it has enough clusters to be significant after Holm's correction."""
    least = 0
    while True:
        family = [count for count in counts if count > least]
        if not family or not too_few(min(family), len(family), alpha):
            return [count > least for count in counts]
        least = min(family)


def too_few(clusters: int, family: int, alpha: float = 0.05) -> bool:
    """Return whether a sign-flip test has so few clusters that no values can make it significant."""
    return family * 2.0 ** (1 - clusters) > alpha

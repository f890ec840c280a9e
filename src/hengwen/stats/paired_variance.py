"""Estimate the variance of differences between two checkpoints, and which differences a run can detect."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.mean_interval import cluster_sums
from hengwen.stats.power import (
    POWER,
    can_be_significant,
    detectable_effect,
    detectable_fall,
    jump_of,
    least_number,
    power_of_t,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponents:
    """Variance of values that form groups: value = mean + effect of the group + rest."""

    between: float
    """Variance of the true means of the groups, >= 0; the variance of all values if ``within`` is None."""
    within: float | None
    """Variance of the values within a group, pooled over groups; None if every group has one value."""


def variance_components(values: ArrayLike, groups: Sequence[str]) -> VarianceComponents:
    """Estimate the variance components of a one-way random-effects model; groups may differ in size."""
    array = np.asarray(values, np.float64)
    if len(array) != len(groups):
        raise ValueError(f"{len(array)} values but {len(groups)} groups")
    sums, sizes = cluster_sums(array, groups)
    count, n = len(sums), len(array)
    if count < 2:
        raise ValueError(f"variance components need at least two groups, got {count}")
    if count == n:
        return VarianceComponents(between=float(array.var(ddof=1)), within=None)
    centred, _ = cluster_sums(array - array.mean(), groups)
    square_between = float((centred**2 / sizes).sum())
    square_within = max(0.0, float(np.square(array - array.mean()).sum()) - square_between)
    within = square_within / (n - count)
    size = (n - float(np.square(sizes).sum()) / n) / (count - 1)
    between = max(0.0, (square_between / (count - 1) - within) / size)
    return VarianceComponents(between=between, within=within)


MIN_FREEDOM = 2
"""Minimum degrees of freedom of a variance to compute its interval; with fewer, the upper end of the interval
is more than 100 times the lower end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedVariance:
    """Variance of the difference between two checkpoints on a prompt, split by its causes."""

    # The mean difference over n prompts with R repeats at each checkpoint has the variance (m * cluster +
    # prompt + 2 * repeat / R) / n, where m is the cluster size.

    cluster: float
    """How much the true difference varies from cluster to cluster (a variance); 0 if every prompt is its own
    cluster."""
    prompt: float
    """How much the true difference varies between the prompts of a cluster (a variance). If ``repeat`` is
    None, this variance includes the variance of the repeats."""
    repeat: float | None
    """Variance of the repeats of a prompt at one checkpoint; None if it is unknown. If it is unknown, the
    variance of a planned run can be computed only for the number of repeats in the data."""
    repeats: float
    """Number of repeats per prompt in the data: the harmonic mean over prompts."""
    cluster_size: float = 1.0
    """Mean over prompts of the size of a prompt's cluster: sum k^2 / sum k for clusters of k prompts."""
    freedom: float
    """Effective number of clusters in the data, minus 1."""
    repeat_freedom: float = 0.0
    """Degrees of freedom of ``repeat``."""
    jump: float = 0.0
    """Usual size of a difference of a discrete score; 0 for a continuous score. A fall moves some prompts by
    a jump, which adds to the variance."""

    @property
    def between(self) -> float:
        """The part of the variance that more repeats cannot reduce: m * ``cluster`` + ``prompt``."""
        return self.cluster_size * self.cluster + self.prompt

    def of_prompt(self, repeats: float) -> float:
        """Return n times the variance of the mean difference over n prompts with ``repeats`` repeats."""
        if self.repeat is not None:
            return self.between + 2 * self.repeat / repeats
        if repeats != self.repeats:
            raise ValueError("the variance of the repeats is unknown")
        return self.between

    def smallest_difference(
        self, prompts: int, repeats: float, alpha: float = 0.05, power: float = POWER
    ) -> float | None:
        """The smallest true difference that a run detects; None if prompts / cluster_size is below 2."""
        variance, units = self.of_prompt(repeats), prompts / self.cluster_size
        if units < 2:
            return None
        if not self.jump:
            return (
                detectable_effect(sqrt(variance / prompts), units - 1, alpha, power) if variance > 0 else 0.0
            )
        fall = detectable_fall(
            lambda fall: self._error(fall, variance, prompts), self.jump, units - 1, alpha, power
        )
        return fall if fall is not None and self._can_be_seen(fall, variance, units, alpha) else None

    def prompts_for(
        self, difference: float, repeats: float, alpha: float = 0.05, power: float = POWER, *, least: int = 2
    ) -> int | None:
        """The smallest number of prompts with which a difference is detected; None if above a million."""
        variance = self.of_prompt(repeats)

        def detects(prompts: int) -> bool:
            units, error = prompts / self.cluster_size, self._error(difference, variance, prompts)
            if self.jump and not self._can_be_seen(difference, variance, units, alpha):
                return False
            return error == 0 or power_of_t(difference, error, units - 1, alpha) >= power

        return least_number(detects, max(least, ceil(2 * self.cluster_size - 1e-9)))

    def _error(self, fall: float, variance: float, prompts: int) -> float:
        """Return the standard error of the mean difference after a fall."""
        added = self.cluster_size * max(fall * (self.jump - fall), 0.0) if self.jump else 0.0
        return sqrt((variance + added) / prompts)

    def _can_be_seen(self, fall: float, variance: float, units: float, alpha: float) -> bool:
        """Return whether the sign-flip test can reach the level with the clusters that a fall moves."""
        moved = units * min(1.0, variance / self.jump**2 + fall / self.jump)
        return can_be_significant(units, moved, moved, alpha)

    def factors(self, repeats: float) -> tuple[float, float] | None:
        """Return the 95 % interval of the true variance, in multiples of the estimate ``of_prompt``."""
        from scipy.special import chdtri

        variance, freedom = self.of_prompt(repeats), self.freedom
        if self.repeat and repeats != self.repeats:
            change = 2 * self.repeat * (1 / repeats - 1 / self.repeats)
            parts = self.of_prompt(self.repeats) ** 2 / self.freedom + change**2 / self.repeat_freedom
            freedom = variance**2 / parts
        if freedom < MIN_FREEDOM:
            return None
        return freedom / float(chdtri(freedom, 0.025)), freedom / float(chdtri(freedom, 0.975))


def paired_variance(
    differences: ArrayLike,
    clusters: Sequence[str],
    repeats: ArrayLike,
    repeat_variance: float | None,
    *,
    span: float = 0.0,
) -> PairedVariance:
    """Split the variance of the differences between two checkpoints into clusters, prompts and repeats."""
    # `span` is the range of the scale of a discrete score
    array = np.asarray(differences, np.float64)
    jump = jump_of(array, span) if span else 0.0
    return _split(array, clusters, repeats, repeat_variance, copies=2, jump=jump)


def variance_from_one_checkpoint(
    values: ArrayLike,
    clusters: Sequence[str],
    repeats: ArrayLike,
    repeat_variance: float | None,
    correlation: float = 0.0,
    *,
    span: float = 0.0,
) -> PairedVariance:
    """Estimate the variance of the differences between two checkpoints from one of them."""
    # `span` is the range of the scale of a discrete score
    if not 0 <= correlation < 1:
        raise ValueError(f"a correlation must lie in [0, 1), got {correlation:g}")
    array = np.asarray(values, np.float64)
    jump = jump_of(array - np.median(array), span) if span else 0.0
    factor = 2 * (1 - correlation)
    return _split(array, clusters, repeats, repeat_variance, copies=1, factor=factor, jump=jump)


def _split(
    array: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    clusters: Sequence[str],
    repeats: ArrayLike,
    repeat_variance: float | None,
    *,
    copies: int,
    factor: float = 1.0,
    jump: float,
) -> PairedVariance:
    """Split the variance of values into clusters, prompts and repeats."""
    counts = np.asarray(repeats, np.float64)
    components = variance_components(array, clusters)
    _, sizes = cluster_sums(array, clusters)
    has_clusters = components.within is not None
    rest = components.between if components.within is None else components.within
    inverse = float(np.mean(1 / counts))
    noise = 0.0 if repeat_variance is None else copies * repeat_variance * inverse
    squares = float(np.square(sizes).sum())
    return PairedVariance(
        cluster=factor * components.between if has_clusters else 0.0,
        prompt=factor * max(0.0, rest - noise),
        repeat=repeat_variance,
        repeats=float(counts[0]) if (counts == counts[0]).all() else 1 / inverse,
        cluster_size=squares / len(array),
        freedom=len(array) ** 2 / squares - 1,
        repeat_freedom=copies * float((counts - 1).sum()),
        jump=jump,
    )

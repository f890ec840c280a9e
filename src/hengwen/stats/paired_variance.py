"""Estimate the variance of differences between two checkpoints, and which differences a run can detect."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.mean_interval import cluster_sums
from hengwen.stats.power import POWER, detectable_effect, least_number, power_of_t
from hengwen.stats.variance_components import variance_components

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

MIN_FREEDOM = 2
"""Minimum degrees of freedom of a variance to compute its interval; with fewer, the upper end of the interval
is more than 100 times the lower end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedVariance:
    """Variance of the difference between two checkpoints on a prompt, split by its causes.

    The mean difference over n prompts with R repeats at each checkpoint has the variance
    (m * cluster + prompt + 2 * repeat / R) / n, where m is the cluster size.
    """

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

    @property
    def between(self) -> float:
        """The part of the variance that more repeats cannot reduce: m * ``cluster`` + ``prompt``.

        Here, m is the cluster size, and ``cluster`` and ``prompt`` are the variances between clusters and
        between the prompts of a cluster. If the variance of the repeats is unknown, ``prompt`` includes it.
        """
        return self.cluster_size * self.cluster + self.prompt

    def of_prompt(self, repeats: float) -> float:
        """Return n times the variance of the mean difference over n prompts with ``repeats`` repeats.

        Args:
            repeats: Repeats per prompt at each checkpoint; may be infinite.

        Raises:
            ValueError: The variance of repeats is unknown, and ``repeats`` is not the number of repeats in
                the data.
        """
        if self.repeat is not None:
            return self.between + 2 * self.repeat / repeats
        if repeats != self.repeats:
            raise ValueError("the variance of the repeats is unknown")
        return self.between

    def smallest_difference(
        self, prompts: int, repeats: float, alpha: float = 0.05, power: float = POWER
    ) -> float | None:
        """Return the smallest true difference that a run detects; None if prompts / cluster_size is below 2.

        Args:
            prompts: Number of prompts.
            repeats: Repeats per prompt at each checkpoint; may be infinite.
            alpha: Two-sided significance level, already divided by the number of tests.
            power: Probability of detecting the difference.
        """
        variance, freedom = self.of_prompt(repeats), prompts / self.cluster_size - 1
        if freedom < 1:
            return None
        return detectable_effect(sqrt(variance / prompts), freedom, alpha, power) if variance > 0 else 0.0

    def prompts_for(
        self, difference: float, repeats: float, alpha: float = 0.05, power: float = POWER, *, least: int = 2
    ) -> int | None:
        """Return the smallest number of prompts with which a difference is detected; None if above a million.

        Args:
            difference: True difference to detect, not 0.
            repeats: Repeats per prompt at each checkpoint.
            alpha: Two-sided significance level, already divided by the number of tests.
            power: Probability of detecting the difference.
            least: Smallest number of prompts to return.
        """
        variance = self.of_prompt(repeats)

        def detects(prompts: int) -> bool:
            freedom = prompts / self.cluster_size - 1
            error = sqrt(variance / prompts)
            return error == 0 or power_of_t(difference, error, freedom, alpha) >= power

        return least_number(detects, max(least, ceil(2 * self.cluster_size - 1e-9)))

    def factors(self, repeats: float) -> tuple[float, float] | None:
        """Return the 95 % interval of the true variance, in multiples of the estimate ``of_prompt``.

        The number of prompts needed to detect a difference is about proportional to the variance. So the two
        factors also give an approximate interval of this number.

        Args:
            repeats: Repeats per prompt at each checkpoint.

        Returns:
            The lower and the upper factor; None if the estimate has fewer than ``MIN_FREEDOM`` degrees of
            freedom.

        Notes:
            The chi-square interval for the variance of normally distributed values, with the degrees of
            freedom of Satterthwaite (1946).
        """
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
) -> PairedVariance:
    """Split the variance of the differences between two checkpoints into clusters, prompts and repeats.

    Args:
        differences: Later minus earlier value of each prompt, shape (n,), in at least two clusters.
        clusters: Cluster of each prompt.
        repeats: Number of repeats behind each of the two values of a prompt.
        repeat_variance: Variance of the repeats of a prompt at one checkpoint; None if it is unknown.

    Raises:
        ValueError: The arguments differ in length, or there are fewer than two clusters.

    Examples:
        >>> variance = paired_variance([4.0, 0.0, 2.0, -2.0], ["a", "b", "c", "d"], [2, 2, 2, 2], 3.0)
        >>> round(variance.prompt, 3), variance.repeat  # 6.667 - 2 * 3 / 2
        (3.667, 3.0)
        >>> [variance.prompts_for(2.0, repeats) for repeats in (1, 2, 10)]
        [21, 16, 11]
    """
    return _split(np.asarray(differences, np.float64), clusters, repeats, repeat_variance, copies=2)


def variance_from_one_checkpoint(
    values: ArrayLike,
    clusters: Sequence[str],
    repeats: ArrayLike,
    repeat_variance: float | None,
    correlation: float = 0.0,
) -> PairedVariance:
    """Estimate the variance of the differences between two checkpoints from the values of only one of them.

    The scores of the other checkpoint are assumed to have the same variances. The variance of the true
    differences over prompts is then 2 * (1 - correlation) times the variance of the true values.

    Args:
        values: Value of each prompt, shape (n,), in at least two clusters.
        clusters: Cluster of each prompt.
        repeats: Number of repeats behind each value.
        repeat_variance: Variance of the repeats of a prompt; None if it is unknown.
        correlation: Assumed correlation, over prompts, of the true values at the two checkpoints, in [0, 1);
            0 gives the largest variance. If ``repeat_variance`` is None, the correlation of the measured
            values is needed instead.

    Raises:
        ValueError: The arguments differ in length, there are fewer than two clusters, or the correlation is
            out of range.

    Examples:
        >>> rest = (["a", "b", "c", "d"], [1, 1, 1, 1], None)
        >>> variance_from_one_checkpoint([1.0, 2.0, 3.0, 6.0], *rest).prompt
        9.333333333333334
    """
    if not 0 <= correlation < 1:
        raise ValueError(f"a correlation must lie in [0, 1), got {correlation:g}")
    array = np.asarray(values, np.float64)
    return _split(array, clusters, repeats, repeat_variance, copies=1, factor=2 * (1 - correlation))


def _split(
    array: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    clusters: Sequence[str],
    repeats: ArrayLike,
    repeat_variance: float | None,
    *,
    copies: int,
    factor: float = 1.0,
) -> PairedVariance:
    """Split the variance of values into clusters, prompts and repeats.

    The variance of a value contains the variance of repeats ``copies`` times: twice for a difference between
    two checkpoints, once for a value of one checkpoint.
    """
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
    )

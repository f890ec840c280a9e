"""Estimate a mean, and the power of a gate on this mean, for other numbers of prompts than in the data."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.equivalence import MeanEstimate
from hengwen.stats.mean_interval import cluster_sums, jackknife
from hengwen.stats.power import POWER, least_number, power_of_t

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

MIN_CLUSTERS = 2
"""Smallest number of clusters of prompts for which a confidence interval can be computed."""


@dataclass(frozen=True, slots=True)
class PromptSample:
    """Values of prompts, from which it is estimated how a gate decides with more or fewer prompts."""

    sums: NDArray[np.float64]
    """Sum of the values of each cluster."""
    sizes: NDArray[np.float64]
    """Number of prompts of each cluster."""
    ends: tuple[float, ...] = ()
    """Values of the pseudo-clusters that widen the interval: both ends of the scale, or none."""

    @classmethod
    def of(
        cls, values: ArrayLike, clusters: Sequence[str] | None, ends: tuple[float, ...] = ()
    ) -> PromptSample:
        """Return a sample of prompts from the value and the cluster of each prompt."""
        return cls(*cluster_sums(np.asarray(values, np.float64), clusters), ends)

    @property
    def prompts(self) -> float:
        """Number of prompts of the sample."""
        return float(self.sizes.sum())

    @property
    def prompts_per_cluster(self) -> float:
        """Mean number of prompts of a cluster."""
        return self.prompts / len(self.sums)

    @property
    def fewest_prompts(self) -> int:
        """Smallest number of prompts for which a confidence interval can be computed."""
        return ceil(MIN_CLUSTERS * self.prompts_per_cluster - 1e-9)

    def clusters(self, prompts: float) -> int:
        """Return how many whole clusters a number of prompts forms, if clusters have the mean size."""
        return int(prompts / self.prompts_per_cluster + 1e-9)

    def at(self, prompts: float) -> MeanEstimate | None:
        """The estimate for a number of prompts; None if they are too few or the standard error is 0."""
        if len(self.sums) < MIN_CLUSTERS or prompts < self.fewest_prompts:
            return None
        size = np.full(len(self.ends), self.prompts_per_cluster)
        sums, sizes = np.append(self.sums, size * self.ends), np.append(self.sizes, size)
        copies = np.append(np.full(len(self.sums), prompts / self.prompts), np.ones(len(self.ends)))
        mean, error, freedom = jackknife(sums, sizes, copies)
        if error <= 1e-12 * abs(mean):
            return None
        # the variance within n clusters is on average (n - 1) / n of the true variance
        expected = 1 - self.prompts_per_cluster / prompts
        error *= sqrt(expected / (1 - 1 / len(self.sums)))
        return MeanEstimate(value=mean, error=error, freedom=freedom)

    def without_ends(self, mean: float, prompts: float) -> float:
        """The mean of the prompts alone, given a mean that includes a value at each end of the scale."""
        size = self.prompts_per_cluster
        return (mean * (prompts + size * len(self.ends)) - size * sum(self.ends)) / prompts

    def power(self, prompts: float, effect: Callable[[float], float], alpha: float) -> float:
        """Return the probability that a gate passes with a number of prompts; 0 if it cannot be computed."""
        estimate = self.at(prompts)
        if estimate is None:
            return 0.0
        return power_of_t(effect(estimate.value), estimate.error, estimate.freedom, alpha, sides=1)

    def needed_prompts(self, effect: Callable[[float], float], alpha: float) -> int | None:
        """Return the number of prompts with which a gate passes with probability .8."""
        if self.at(self.fewest_prompts) is None:
            return None
        return least_number(lambda count: self.power(count, effect, alpha) >= POWER, self.fewest_prompts)

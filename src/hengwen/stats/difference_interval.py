"""Differences between two checkpoints over prompts: intervals, effect sizes, at equally long answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.mean_interval import Bounds, cluster_sums, jackknife, mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceInterval:
    """Two confidence intervals of a mean difference, by default at 95 %; reports show ``bounds``."""

    t: Bounds | None
    """Student's t interval over clusters; None if there are fewer than two clusters, or if all differences
    are equal."""
    t_p: float | None
    """Two-sided p-value of the t test that belongs to the interval ``t``; None if ``t`` is None."""
    pseudo: Bounds | None
    """Student's t interval with a pseudo-cluster at plus and minus ``reach``. None if ``reach`` is None, or
    if there are fewer than two clusters."""
    reach: float | None
    """Largest difference of prompts like those not seen, for which ``pseudo`` holds; None if ``pseudo`` is
    None."""

    @property
    def bounds(self) -> Bounds | None:
        """Interval to show: ``pseudo``, or ``t`` if nothing limits the differences."""
        return self.pseudo or self.t


def difference_interval(
    differences: ArrayLike,
    clusters: Sequence[str] | None = None,
    *,
    scale: Bounds | None = None,
    continuous: bool = False,
    reach: float = 0.0,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> DifferenceInterval:
    """Return two confidence intervals of a mean difference: Student's t, and t with pseudo-clusters."""
    array = np.asarray(differences, np.float64)
    plain = mean_interval(array, clusters, weights=weights, confidence=confidence).bounds
    limit = unseen_reach(array, scale, continuous=continuous, reach=reach)
    pseudo = None
    if limit is not None:
        pseudo = pseudo_interval(
            array, clusters, limit, scale, continuous=continuous, weights=weights, confidence=confidence
        )
    return DifferenceInterval(
        t=plain,
        t_p=None if plain is None else _t_p(array, clusters, weights),
        pseudo=pseudo,
        reach=None if pseudo is None else limit,
    )


def unseen_reach(
    differences: ArrayLike, scale: Bounds | None, *, continuous: bool, reach: float = 0.0
) -> float | None:
    """Return how far prompts that are not in the sample may differ; None if nothing tells."""
    # Differences of a discrete score reach as far as the range of the scale, those of a continuous score as
    # far as the largest one in the sample, and at least `reach`. If that is 0, they reach as far as the
    # scale.
    span = None if scale is None else scale[1] - scale[0]
    if not continuous:
        return span
    largest = max(float(np.abs(differences).max()), reach)
    if largest <= 1e-12 * (span or 1.0):  # equal checkpoints say nothing about others
        return span
    return largest if span is None else min(largest, span)


def pseudo_interval(
    differences: NDArray[np.float64],
    clusters: Sequence[str] | None,
    reach: float,
    scale: Bounds | None,
    *,
    continuous: bool,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Bounds | None:
    """Return the t interval of differences and of a pseudo-cluster at plus and minus ``reach``."""
    # The weights of pseudo-clusters are those of the interval of a mean (`mean_interval`).
    limits = None if scale is None else (scale[0] - scale[1], scale[1] - scale[0])
    return mean_interval(
        differences,
        clusters,
        scale=limits,
        ends=(-reach, reach),
        continuous=continuous,
        weights=weights,
        confidence=confidence,
    ).bounds


def _t_p(array: NDArray[np.float64], clusters: Sequence[str] | None, weights: ArrayLike | None) -> float:
    from scipy.special import stdtr

    mean, error, freedom = jackknife(*cluster_sums(array, clusters, weights))
    return float(2 * stdtr(freedom, -abs(mean) / error))


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectSizes:
    """Sizes of the difference between two checkpoints, without a test."""

    wins: int
    """Number of prompts with a better value at the later checkpoint."""
    losses: int
    """Number of prompts with a worse value at the later checkpoint."""
    ties: int
    cliffs_delta: float
    """P(later > earlier) - P(later < earlier) over all pairs of a later and an earlier value, from -1 to
    1."""
    p_greater: float
    """P(later > earlier) + P(equal) / 2 over all pairs of a later and an earlier value: the effect size of
    Brunner and Munzel."""


def effect_sizes(earlier: ArrayLike, later: ArrayLike, *, higher_is_better: bool = True) -> EffectSizes:
    """Return the effect sizes of two checkpoints on the same prompts."""
    before, after = np.asarray(earlier, np.float64), np.asarray(later, np.float64)
    rises, falls = int((after > before).sum()), int((after < before).sum())
    n = len(after)
    rank_sum = float(average_ranks(np.concatenate((after, before)))[:n].sum())
    p_greater = (rank_sum - n * (n + 1) / 2) / n**2
    wins, losses = (rises, falls) if higher_is_better else (falls, rises)
    return EffectSizes(
        wins=wins,
        losses=losses,
        ties=n - rises - falls,
        cliffs_delta=2 * p_greater - 1,
        p_greater=p_greater,
    )


def average_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return ranks from 1, lowest first, of which equal values share the mean."""
    # scipy.stats has this too, but takes half a second to import
    _, index, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[index]
    return ranks


def mcnemar_p(gained: int, lost: int) -> float:
    """Return the exact two-sided p-value of McNemar's test: are ``gained`` and ``lost`` equally likely?"""
    from scipy.stats import binomtest

    return float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0


MIN_CLUSTERS = 10
"""Minimum number of clusters of prompts to estimate the effect of the length of answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualLengthDifference:
    """Expected score difference of two checkpoints if both answers to a prompt are equally long."""

    difference: float | None
    """The expected difference; None if it cannot be estimated, for the reason in ``reason``."""
    interval: tuple[float, float] | None
    """95 % confidence interval of the difference, from Student's t and a jackknife standard error over
    clusters."""
    length_ratio: float
    """(1 + length of the later answer) / (1 + length of the earlier answer): the geometric mean over
    prompts."""
    reason: str = ""
    """Reason why the difference cannot be estimated: ``few prompts`` (fewer than 10 clusters) or ``same
    ratio`` (all lengths changed by the same ratio); otherwise empty."""


def equal_length_difference(
    differences: ArrayLike, length_changes: ArrayLike, clusters: Sequence[str] | None = None
) -> EqualLengthDifference:
    """The score difference at equal length: the intercept of a regression on the change of log length."""
    y, x = np.asarray(differences, np.float64), np.asarray(length_changes, np.float64)
    ratio = float(np.exp(x.mean()))
    sum_x, sizes = cluster_sums(x, clusters)
    groups = len(sizes)
    if groups < MIN_CLUSTERS:
        return EqualLengthDifference(difference=None, interval=None, length_ratio=ratio, reason="few prompts")
    sums = np.array([sizes, sum_x, *(cluster_sums(values, clusters)[0] for values in (y, x * x, x * y))])
    total = sums.sum(axis=1)
    without = total[:, None] - sums
    n, sx, sy, sxx, sxy = np.column_stack((total, without))
    spread = n * sxx - sx * sx
    if spread.min() <= 1e-9 * max(float(n[0] * sxx[0]), 1e-300):
        return EqualLengthDifference(difference=None, interval=None, length_ratio=ratio, reason="same ratio")
    intercepts = (sy * sxx - sx * sxy) / spread
    from scipy.special import stdtrit

    error = np.sqrt((groups - 1) / groups * np.square(intercepts[1:] - intercepts[0]).sum())
    freedom = float(sizes.sum() ** 2 / np.square(sizes).sum()) - 2
    half = float(stdtrit(freedom, 0.975) * error) if freedom > 0 else None
    centre = float(intercepts[0])
    return EqualLengthDifference(
        difference=centre,
        interval=None if half is None else (centre - half, centre + half),
        length_ratio=ratio,
    )

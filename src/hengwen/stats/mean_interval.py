"""Compute the confidence interval of a mean over prompts; dependent prompts form clusters.

On a bounded scale, a plain t interval (or a bootstrap) is far too narrow if most values lie at one end of the
scale: it knows nothing of the rare values that no prompt of the sample has. Two pseudo-clusters stand for
them, one at each end of the range in which the means of unseen clusters may lie. Their weight is a share of
the mean cluster size.

Values of a discrete score may jump to any level, so the range is the whole scale. For a continuous score
from 20 clusters on, the range is that of the sample, stretched on both sides. ``docs/methods.md`` states the
simulated coverage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


Bounds = tuple[float, float]

CONTINUOUS_WEIGHT = 2 / 3
"""Weight of a pseudo-cluster of a continuous score; that of a discrete score is 1."""
STRETCH = 3.0
"""How far the range of a continuous score reaches beyond the means of the clusters, in multiples of their
range."""
MIN_STRETCHED = 20
"""Fewest effective clusters whose own range, stretched, replaces the scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanInterval:
    """A two-sided confidence interval of a mean, or the reason why it cannot be computed."""

    low: float | None
    high: float | None
    effective_clusters: float
    """Effective number of clusters: (sum k)^2 / sum k^2, where k is the number of prompts of a cluster. The
    effective number equals the number of clusters if all clusters have the same size."""
    ends: Bounds | None = None
    """Where the two pseudo-clusters lie: the interval is too narrow if clusters like those not seen have
    means outside of this range. None without an interval, and for a plain t interval."""
    reason: str = ""
    """Reason why there is no interval; empty if there is an interval."""

    @property
    def bounds(self) -> Bounds | None:
        """The interval as (low, high); None if there is no interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def mean_interval(
    values: ArrayLike,
    clusters: Sequence[str] | None = None,
    *,
    scale: Bounds | None = None,
    continuous: bool = False,
    ends: Bounds | None = None,
    confidence: float = 0.95,
    weights: ArrayLike | None = None,
) -> MeanInterval:
    """Return the confidence interval of a mean over prompts; ``ends`` replaces the rule for a scale."""
    array = np.asarray(values, dtype=np.float64)
    check_confidence(confidence)
    if clusters is not None and len(clusters) != len(array):
        raise ValueError(f"{len(array)} values but {len(clusters)} clusters")
    sums, sizes = cluster_sums(array, clusters, weights)
    effective = float(sizes.sum() ** 2 / np.square(sizes).sum()) if len(sizes) else 0.0
    if len(sizes) < 2:
        return MeanInterval(low=None, high=None, effective_clusters=effective, reason="one prompt or cluster")
    if ends is None and scale is not None:
        ends = range_of_unseen(sums, sizes, scale, continuous=continuous)
    if ends is not None:
        sums, sizes = with_pseudo_clusters(sums, sizes, ends, CONTINUOUS_WEIGHT if continuous else 1.0)
    centre, error, freedom = jackknife(sums, sizes)
    if ends is None and error <= 1e-12 * abs(centre):
        reason = "all values are equal on an unbounded scale"
        return MeanInterval(low=None, high=None, effective_clusters=effective, reason=reason)
    from scipy.special import stdtrit

    half = float(stdtrit(freedom, 0.5 + confidence / 2)) * error
    low, high = centre - half, centre + half
    if scale is not None:
        low, high = max(low, scale[0]), min(high, scale[1])
    return MeanInterval(low=low, high=high, effective_clusters=effective, ends=ends)


def range_of_unseen(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], scale: Bounds, *, continuous: bool
) -> Bounds:
    """Return the range in which the means of clusters that are not in the sample may lie."""
    if not continuous or sizes.sum() ** 2 < (MIN_STRETCHED - 1e-9) * np.square(sizes).sum():
        return scale
    means = sums / sizes
    low, high = float(means.min()), float(means.max())
    reach = STRETCH * (high - low)
    if reach <= 1e-12 * (scale[1] - scale[0]):  # equal means say nothing about others
        return scale
    return max(scale[0], low - reach), min(scale[1], high + reach)


def with_pseudo_clusters(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], ends: Bounds, weight: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Add a cluster of ``weight`` times the mean size at each end."""
    size = weight * float(sizes.mean())
    return np.append(sums, (size * ends[0], size * ends[1])), np.append(sizes, (size, size))


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless a confidence level is between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie in (0, 1), got {confidence}")


def cluster_sums(
    values: NDArray[np.float64], clusters: Sequence[str] | None, weights: ArrayLike | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two arrays: the sum of the values of each cluster, and the number of prompts of each cluster."""
    shares = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64)
    values = values if weights is None else values * shares
    if clusters is None:
        return values, shares
    codes: dict[str, int] = {}
    index = np.fromiter((codes.setdefault(name, len(codes)) for name in clusters), np.intp, len(clusters))
    if len(codes) == len(values):
        return values, shares
    sums = np.bincount(index, weights=values).astype(np.float64)
    return sums, np.bincount(index, weights=shares).astype(np.float64)


def jackknife(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], copies: NDArray[np.float64] | None = None
) -> tuple[float, float, float]:
    """A mean over prompts, its standard error (jackknife over clusters), and the degrees of freedom."""
    counts = np.ones(len(sums)) if copies is None else copies
    total, count, groups = (counts * sums).sum(), (counts * sizes).sum(), counts.sum()
    mean = total / count
    without = (total - sums) / (count - sizes)
    error = np.sqrt((groups - 1) / groups * (counts * np.square(without - mean)).sum())
    return float(mean), float(error), float(count**2 / (counts * np.square(sizes)).sum() - 1)


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


BINS = 5
"""Number of equal parts into which a scale without levels is divided; the parts serve as its levels."""


def level_weights(units: Sequence[int], target: Sequence[int]) -> tuple[float, ...] | None:
    """Return weights (mean 1) with which each level has the same share among units as in a target."""
    counts, target_counts = Counter(units), Counter(target)
    covered = sum(count for level, count in target_counts.items() if level in counts)
    if not covered:
        return None
    return tuple(target_counts[level] / covered * len(units) / counts[level] for level in units)


def level_index(value: float, low: float, high: float, levels: Sequence[float] | None) -> int:
    """Return the index of the level nearest to a value."""
    if levels is not None:
        return min(range(len(levels)), key=lambda index: abs(levels[index] - value))
    return min(BINS - 1, max(0, int((value - low) / (high - low) * BINS)))


def precision_weights(
    differences: ArrayLike, repeats: ArrayLike, repeat_variance: float
) -> NDArray[np.float64]:
    """Return the weight 1 / (tau^2 + 2 sigma^2 / R) of each prompt, scaled to a mean weight of 1."""
    values, noise = np.asarray(differences, np.float64), 2 * repeat_variance / np.asarray(repeats, np.float64)
    between = float(values.var(ddof=1)) - float(noise.mean()) if len(values) > 1 else 0.0
    variance = max(0.0, between) + noise
    if not (variance > 0).all():
        return np.ones(len(values))
    weights = 1 / variance
    return np.asarray(weights / weights.mean(), np.float64)


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

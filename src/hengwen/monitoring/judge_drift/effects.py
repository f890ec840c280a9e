"""Estimate how much a model and its judge changed, each with confidence intervals and a p-value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.difference_interval import difference_interval
from hengwen.stats.equivalence import (
    EQUIVALENCE_CONFIDENCE,
    MeanEstimate,
    interval_of_difference,
    scale_factor,
    units_needed,
)
from hengwen.stats.mean_interval import cluster_sums, jackknife, level_weights
from hengwen.stats.paired import EXACT_UP_TO, sign_flip_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Bounds = tuple[float, float]
MARGIN_SHARE = 0.04
"""Largest change that does not matter, as a share of the scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A mean change (later minus earlier values) of a model or of its judge, with intervals and a p-value."""

    difference: float
    p: float
    """Two-sided p-value of the sign-flip test or of a t test, not corrected for the number of scores."""
    p_adjusted: float | None = None
    """p-value corrected for the number of scores and, for a judge, of its tests; None if it is not tested."""
    interval: Bounds | None
    """95 % confidence interval of the change; None if there is only one cluster, or if values are unbounded
    and all differences are equal."""
    interval_90: Bounds | None
    """90 % interval; if it lies within plus and minus the margin, the change is too small to matter."""
    prompts: int = 0
    """Number of prompts; 0 if the change is measured only on anchors."""
    clusters: int = 0
    """Number of independent groups of prompts or anchors."""
    anchors: int = 0
    """Number of anchors (fixed answers that every run judges); 0 if none are used."""
    error: float
    """Standard error of the mean change; 0 if all differences are equal or there is only one cluster."""
    freedom: float
    """Degrees of freedom of the standard error."""
    detectable: float | None
    """Smallest true change that is detected with a probability of 80 % at a significance level of 5 %; None
    if the standard error is 0."""
    prompts_needed: int | None = None
    """Number of prompts that show with a probability of 80 % that the change is smaller than the margin, if
    the true change is 0; None if it is unknown."""
    anchors_needed: int | None = None
    """The same number of anchors; None if it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorChanges:
    """How the judge's values of anchors (fixed answers with human values) changed between two runs."""

    differences: Sequence[float]
    """Change of each anchor's value."""
    clusters: Sequence[str]
    levels: Sequence[int]
    """Level that people gave to each anchor."""
    answer_levels: Sequence[int]
    """Level that the judge of the earlier run gave to each answer of the earlier checkpoint."""

    @property
    def uncovered(self) -> float:
        """Share of the earlier checkpoint's answers whose level is not the human level of any anchor."""
        present = set(self.levels)
        return sum(level not in present for level in self.answer_levels) / max(1, len(self.answer_levels))

    @property
    def used(self) -> list[int]:
        """Indices of the used anchors: those whose human level is also the judge's level of some answer."""
        present = set(self.answer_levels)
        return [index for index, level in enumerate(self.levels) if level in present]


def paired_effect(
    before: Sequence[float], after: Sequence[float], clusters: Sequence[str], *, scale: Bounds | None
) -> Effect:
    """Return the mean change of the prompts' values, with its intervals and p-value."""
    differences = np.asarray(after, np.float64) - np.asarray(before, np.float64)
    effect = _effect(differences, clusters, scale)
    needed = effect.needed(scale)
    return replace(effect.effect, prompts=len(differences), prompts_needed=needed)


def anchor_effect(changes: AnchorChanges, *, scale: Bounds | None) -> Effect:
    """Return the mean change of anchors (fixed answers that both runs judged), weighted by human level."""
    used = changes.used
    differences = np.array([changes.differences[index] for index in used])
    clusters = [changes.clusters[index] for index in used]
    weights = level_weights([changes.levels[index] for index in used], changes.answer_levels)
    assert weights is not None  # the level of every used anchor occurs among the answers
    effect = _effect(differences, clusters, scale, np.array(weights))
    return replace(effect.effect, anchors=len(used), anchors_needed=effect.needed(scale))


def adjusted_effect(
    raw: Effect, judge: Effect, *, margin: float | None, changed_share: float = 1.0
) -> Effect:
    """Return the change of the model: the change of its scores minus the change of the judge."""
    first = MeanEstimate(value=raw.difference, error=raw.error, freedom=raw.freedom)
    second = MeanEstimate(
        value=judge.difference * changed_share, error=judge.error * changed_share, freedom=judge.freedom
    )
    interval, interval_90 = (
        None if bounds is None else (bounds[0] * changed_share, bounds[1] * changed_share)
        for bounds in (judge.interval, judge.interval_90)
    )
    estimate = first.minus(second)
    factor = scale_factor(estimate.error, margin) if margin and estimate.error else None
    return Effect(
        difference=estimate.value,
        p=_constant_p(estimate, raw, judge) if estimate.is_error_zero else estimate.p,
        interval=interval_of_difference(first.value, raw.interval, second.value, interval),
        interval_90=interval_of_difference(first.value, raw.interval_90, second.value, interval_90),
        prompts=raw.prompts,
        clusters=raw.clusters,
        anchors=judge.anchors,
        error=estimate.error,
        freedom=estimate.freedom,
        detectable=estimate.detectable(),
        prompts_needed=None if factor is None else ceil(raw.prompts * factor),
        anchors_needed=None if factor is None else ceil(judge.anchors * factor),
    )


def _constant_p(estimate: MeanEstimate, raw: Effect, judge: Effect) -> float:
    """Return the p-value of an adjusted change whose standard error is 0."""
    if abs(estimate.value) <= 1e-12:
        return 1.0
    return raw.p if judge.difference == 0 else max(raw.p, judge.p)


@dataclass(frozen=True, slots=True)
class _MeasuredEffect:
    """A measured change, with the data from which ``needed`` computes a sufficient sample size."""

    effect: Effect
    units: int
    is_pseudo: bool
    """Whether two pseudo-observations (the smallest and largest possible difference) widen the intervals."""

    def needed(self, scale: Bounds | None) -> int | None:
        """Return the number of prompts or anchors that would show that the change is too small to matter."""
        if scale is None:
            return None
        span, clusters = scale[1] - scale[0], self.effect.clusters
        needed = units_needed(
            self.effect.error * sqrt(clusters), MARGIN_SHARE * span, reach=span if self.is_pseudo else None
        )
        return None if needed is None else ceil(needed * self.units / clusters)


def _effect(
    differences: NDArray[np.float64],
    clusters: Sequence[str],
    scale: Bounds | None,
    weights: NDArray[np.float64] | None = None,
) -> _MeasuredEffect:
    sums, sizes = cluster_sums(differences, clusters, weights)
    groups = len(sums)
    error, freedom = jackknife(sums, sizes)[1:] if groups > 1 else (0.0, 1.0)
    wide = difference_interval(differences, clusters, scale=scale, weights=weights)
    narrow = difference_interval(
        differences, clusters, scale=scale, weights=weights, confidence=EQUIVALENCE_CONFIDENCE
    )
    estimate = MeanEstimate(value=float(sums.sum() / sizes.sum()), error=error, freedom=max(1.0, freedom))
    is_pseudo = wide.pseudo is not None and wide.bounds == wide.pseudo
    _, equal = np.unique(differences.round(12), return_counts=True)
    if 2 * equal.max() >= len(differences) or wide.t_p is None or groups <= EXACT_UP_TO:
        weighted = differences if weights is None else weights * differences
        p = sign_flip_test(np.zeros(len(weighted)), weighted, clusters).p
    else:
        p = wide.t_p
    return _MeasuredEffect(
        Effect(
            difference=estimate.value,
            p=p,
            interval=wide.bounds,
            interval_90=narrow.bounds,
            clusters=groups,
            error=error,
            freedom=estimate.freedom,
            detectable=estimate.detectable(),
        ),
        len(differences),
        is_pseudo,
    )

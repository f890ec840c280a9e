"""Estimate how much a model and its judge changed, each with confidence intervals and a p-value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.mean_interval import cluster_sums, difference_interval, jackknife, level_weights
from hengwen.stats.paired import EXACT_UP_TO, sign_flip_test
from hengwen.stats.power import (
    EQUIVALENCE_CONFIDENCE,
    MeanEstimate,
    interval_of_difference,
    scale_factor,
    units_needed,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


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


MAX_EXCESS_SHARE = 0.06
"""Largest excess of a judge that counts as stable, as a share of the scale."""
MIN_KAPPA = 0.4
"""Linear kappa of old and new verdicts below which a judge does not reproduce its verdicts."""
DRAWS = 9999
_BLOCK = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeConsistency:
    """Agreement of old verdicts with new ones, beside the agreement of two new verdicts (the noise floor)."""

    kappa: float | None
    """Linear kappa of the old and the new verdicts; None if all verdicts are equal."""
    kappa_interval: tuple[float, float] | None
    """95 % interval by the jackknife over prompts (or clusters); None with ``kappa``, or with one prompt."""
    floor: float | None
    """Linear kappa of the two new verdicts; None if all are equal, or if there is one new verdict."""
    excess: float | None
    """Mean distance of the old verdict to the new ones, minus the distance between the two new ones; None if
    there is one new verdict."""
    p: float | None
    """Two-sided p-value of ``excess`` if old and new verdicts of a prompt can be exchanged; not corrected."""
    p_adjusted: float | None = None
    """p-value corrected for all tests of the judge, over all scores; None if it is not tested."""
    answers: int
    prompts: int

    @property
    def is_unlike(self) -> bool:
        """Whether the new verdicts do not reproduce the old ones: kappa's upper limit is below the least."""
        return self.kappa_interval is not None and self.kappa_interval[1] < MIN_KAPPA

    def has_changed(self, alpha: float) -> bool:
        """Return whether the judge's verdicts on the same answers have changed."""
        p = self.p if self.p_adjusted is None else self.p_adjusted
        return (p is not None and p <= alpha) or self.is_unlike

    def is_stable(self, width: float) -> bool:
        """Return whether old and new verdicts agree closely enough on a scale of this width."""
        return (
            self.excess is not None
            and abs(self.excess) <= MAX_EXCESS_SHARE * width
            and self.kappa_interval is not None
            and self.kappa_interval[0] >= MIN_KAPPA
        )


def judge_consistency(
    then: ArrayLike, fresh: Sequence[ArrayLike], clusters: Sequence[str]
) -> JudgeConsistency:
    """Compare the old verdicts on answers with one or two new ones."""
    old = np.asarray(then, np.float64)
    new = np.array([np.asarray(values, np.float64) for values in fresh])
    _, codes = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    kappa, interval = _kappa(old, new, codes)
    excess = p = floor = None
    if len(new) > 1:
        excess, p = _exchange(np.stack([old, *new]), codes)
        floor = _kappa(new[0], new[1:], codes)[0]
    return JudgeConsistency(
        kappa=kappa,
        kappa_interval=interval,
        floor=floor,
        excess=excess,
        p=p,
        answers=len(old),
        prompts=int(codes.max()) + 1,
    )


def _exchange(passes: Floats, codes: NDArray[np.intp]) -> tuple[float, float]:
    """Return the excess of the first of three passes, and its p-value by exchanging passes by cluster."""
    first, second, third = passes
    near, far, between = abs(first - second), abs(first - third), abs(second - third)
    parts = ((near + far) / 2 - between, (near + between) / 2 - far, (far + between) / 2 - near)
    sums = np.stack([np.bincount(codes, weights=part) for part in parts])
    groups = sums.shape[1]
    observed = float(sums[0].sum())
    rng = np.random.default_rng(0)
    draws = np.concatenate(
        [
            sums[rng.integers(0, 3, (size, groups)), np.arange(groups)].sum(axis=1)
            for size in _block_sizes(max(1, _BLOCK // groups))
        ]
    )
    rounding = 1e-9 * (float(np.abs(sums).sum()) or 1.0)
    above = 1 + int((draws >= observed - rounding).sum())
    below = 1 + int((draws <= observed + rounding).sum())
    return observed / len(first), min(1.0, 2 * min(above, below) / (DRAWS + 1))


def _block_sizes(block: int) -> list[int]:
    return [min(block, DRAWS - start) for start in range(0, DRAWS, block)]


def _kappa(
    old: Floats, new: Floats, codes: NDArray[np.intp]
) -> tuple[float | None, tuple[float, float] | None]:
    """Return linear kappa of the old values with the mean of the new ones, and its jackknife interval."""
    pooled = new.ravel()
    distances = np.bincount(codes, weights=np.abs(new - old).sum(axis=0))
    rows = np.bincount(codes, weights=_distance_sums(old, pooled))
    columns = np.bincount(codes, weights=_distance_sums(pooled, old).reshape(new.shape).sum(axis=0))
    sizes = np.bincount(codes)
    total = float(rows.sum())
    if total <= 0:
        return None, None
    n, groups = len(old), len(sizes)
    kappa = 1 - float(distances.sum()) * n / total
    if groups < 2:
        return kappa, None
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.cumsum(sizes)[:-1])
    within = np.array([np.abs(old[part][:, None, None] - new[:, part]).sum() for part in members])
    left = total - rows - columns + within
    if (left <= 1e-12 * total).any():
        return kappa, None
    values = 1 - (distances.sum() - distances) * (n - sizes) / left
    from scipy.special import stdtrit

    error = np.sqrt((groups - 1) / groups * np.square(values - values.mean()).sum())
    half = float(stdtrit(groups - 1, 0.975) * error)
    return kappa, (max(-1.0, kappa - half), min(1.0, kappa + half))


def _distance_sums(values: Floats, others: Floats) -> Floats:
    """Return for each value the sum of its distances to all others."""
    ordered = np.sort(others)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    below = np.searchsorted(ordered, values)
    n, total = len(ordered), sums[-1]
    return np.asarray(values * (2 * below - n) + total - 2 * sums[below], np.float64)


MIN_CLUSTERS = 3
PER_CHARACTERS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RejudgedAnswer:
    """One answer with its prompt's cluster, its length in characters, and values by the old and new judge."""

    prompt: str
    cluster: str
    length: int
    new: float
    old: float | None = None
    """Value that the old judge gave; None for answers of the later checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthAdjustment:
    """The model's change without the part that a judge's change by length would explain."""

    slope: float
    """Change of the judge's value, from then to now, for each 100 characters of an answer."""
    lengths: tuple[float, float]
    """Mean length of the earlier and of the later answers, in characters."""
    remaining: float
    """The model's change minus ``slope`` times the change of length."""
    p: float
    """Two-sided p-value of ``remaining``, by the jackknife over clusters of prompts; not corrected."""


def length_adjustment(
    earlier: Sequence[RejudgedAnswer], later: Sequence[RejudgedAnswer]
) -> LengthAdjustment | None:
    """Return the model's change without that by length; None if it cannot be estimated."""
    rated = [answer for answer in earlier if answer.old is not None]
    before, after = _by_prompt(earlier), _by_prompt(later)
    prompts = [name for name in before if name in after]
    clusters = {answer.prompt: answer.cluster for answer in earlier}
    names = sorted({clusters[name] for name in prompts} | {answer.cluster for answer in rated})
    if len(names) < MIN_CLUSTERS or not prompts:
        return None
    code = {name: index for index, name in enumerate(names)}
    x = np.array([answer.length / PER_CHARACTERS for answer in rated])
    y = np.array([answer.new - (answer.old or 0.0) for answer in rated])
    pairs = np.array([[*before[name], *after[name]] for name in prompts])
    regression = _sums(
        [code[answer.cluster] for answer in rated], [np.ones(len(x)), x, y, x * x, x * y], code
    )
    changes = _sums(
        [code[clusters[name]] for name in prompts],
        [np.ones(len(pairs)), pairs[:, 2] - pairs[:, 0], pairs[:, 3] - pairs[:, 1]],
        code,
    )
    totals = regression.sum(axis=1, keepdims=True), changes.sum(axis=1, keepdims=True)
    slopes = _slopes(np.hstack([totals[0], totals[0] - regression]))
    counts, values, steps = np.hstack([totals[1], totals[1] - changes])
    if not np.isfinite(slopes).all() or (counts <= 0).any():
        return None
    results = (values - slopes * steps) / counts
    n = len(names)
    error = float(np.sqrt((n - 1) / n * np.square(results[1:] - results[1:].mean()).sum()))
    if error == 0:
        return None
    from scipy.special import stdtr

    lengths = pairs[:, [1, 3]].mean(axis=0) * PER_CHARACTERS
    return LengthAdjustment(
        slope=float(slopes[0]),
        lengths=(float(lengths[0]), float(lengths[1])),
        remaining=float(results[0]),
        p=float(2 * stdtr(n - 1, -abs(results[0]) / error)),
    )


def _by_prompt(answers: Sequence[RejudgedAnswer]) -> Mapping[str, tuple[float, float]]:
    """Return the mean value by the new judge and the mean length of the answers to each prompt."""
    groups: dict[str, list[tuple[float, float]]] = {}
    for answer in answers:
        groups.setdefault(answer.prompt, []).append((answer.new, answer.length / PER_CHARACTERS))
    return {
        name: (float(np.mean([v for v, _ in group])), float(np.mean([x for _, x in group])))
        for name, group in groups.items()
    }


def _sums(codes: Sequence[int], columns: Sequence[Floats], names: Mapping[str, int]) -> Floats:
    return np.stack([np.bincount(codes, weights=column, minlength=len(names)) for column in columns])


def _slopes(sums: Floats) -> Floats:
    """Return the least-squares slope of each column of sums of 1, x, y, x * x and x * y."""
    n, x, y, squares, products = sums
    spread = n * squares - x * x
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (n * products - x * y) / np.where(spread > 1e-9 * n * squares, spread, np.nan)
    return np.asarray(slopes, np.float64)

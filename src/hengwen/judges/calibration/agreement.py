"""Measure the agreement of human and judge values, with intervals from a bootstrap over whole prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.judges.calibration.joining import RatedAnswer
from hengwen.judges.calibration.statistics import (
    COEFFICIENTS,
    MIN_INTERVAL_PROMPTS,
    POSITION_TOLERANCE,
    RESAMPLES,
    SHARES,
    Estimate,
    EstimateKind,
    PairCells,
    agreement_statistics,
    bootstrap_estimate,
    cluster_index,
    nearest_level,
    pair_cells,
    resample_clusters,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


OF_LEVELS = ("kappa", *SHARES)
"""Statistics that need levels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How well a judge's values agree with human ones."""

    n: int
    """Number of pairs of a human and a judge value."""
    prompts: int
    levels: tuple[float, ...]
    """All levels, ascending; empty for a continuous scale."""
    quadratic_kappa: Estimate
    kappa: Estimate
    """Cohen's unweighted kappa; values between two levels are rounded to the nearest level."""
    spearman: Estimate
    exact: Estimate
    """Share of pairs whose human and judge value are nearest to the same level."""
    within_one: Estimate
    """Share of pairs whose human and judge value are at most one level apart."""
    bias: Estimate
    """Mean of (judge's value - human value), in the unit of the values."""
    human_mean: float
    judge_mean: float
    confusion: tuple[tuple[int, ...], ...]
    """Counts of pairs: one row for each human level and one column for each judge level, in ascending
    order; empty for a continuous scale."""
    between: int
    """Number of values that lie between two levels, such as a mean of several raters. ``confusion``,
    ``kappa`` and ``exact`` round values between two levels to the nearest level."""
    resamples: int

    @property
    def human_base(self) -> tuple[float, ...]:
        """Share of the human values at each level."""
        return tuple(sum(row) / self.n for row in self.confusion)

    @property
    def judge_base(self) -> tuple[float, ...]:
        """Share of the judge's values at each level."""
        return tuple(sum(column) / self.n for column in zip(*self.confusion, strict=True))


def measure_agreement(
    human: Sequence[float],
    judge: Sequence[float],
    *,
    levels: Sequence[float],
    is_continuous: bool = False,
    clusters: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    seed: int = 0,
) -> Agreement:
    """Measure the agreement of paired values.

    Args:
        human: Human values, length n >= 1; a value may be between two levels.
        judge: The judge's values for the same answers.
        levels: All levels of the scale in ascending order, at least two, including levels that do not occur;
            of a continuous scale, its two ends.
        is_continuous: Whether the scale has no levels between its ends. Then there are no unweighted kappa,
            no shares of equal levels and no confusion matrix.
        clusters: Prompt of each pair; the bootstrap draws whole prompts. By default, each pair counts as a
            separate prompt.
        resamples: Number of bootstrap resamples.
        confidence: Confidence level of the intervals.
        seed: Seed of the bootstrap.

    Returns:
        The statistics. If all human values or all judge values are equal, kappa and the correlations are
        None, not 0, and a reason is given.

    Raises:
        ValueError: The lengths differ, there are no pairs, the levels are not ascending, or a value is
            outside the levels.

    Notes:
        Quadratic kappa is 1 - D / E. D is the mean squared distance, in levels, between the human and the
        judge value of a pair. E is the one expected by chance: the mean over all combinations of one human
        value and one judge value. If no value lies between two levels, it is that of Cohen (1968).

    Examples:
        >>> agreement = measure_agreement([0, 0.5, 1, 1], [0, 1, 1, 0.5], levels=[0, 0.5, 1])
        >>> agreement.quadratic_kappa.value, agreement.exact.value  # 1 - 4 * 2 / (2 * 11)
        (0.6363636363636364, 0.5)
        >>> agreement.confusion, agreement.bias.value
        (((1, 0, 0), (0, 0, 1), (0, 1, 1)), 0.0)
        >>> measure_agreement([1, 1], [0, 1], levels=[0, 0.5, 1]).quadratic_kappa.reason
        'undefined: all human values are the same'
    """
    human_values, judge_values, scale = _validated(human, judge, levels)
    n = len(human_values)
    index, count = cluster_index(clusters or [str(i) for i in range(n)])
    if len(index) != n:
        raise ValueError(f"{n} pairs but {len(index)} clusters")
    cells = pair_cells(human_values, judge_values, index, scale)
    resampled = resample_clusters(count, resamples if count >= MIN_INTERVAL_PROMPTS else 0, seed)
    weights = np.vstack([cells.total, resampled @ cells.counts])
    statistics = agreement_statistics(cells, weights)
    reason = _undefined_reason(human_values, judge_values)
    estimates = {
        name: bootstrap_estimate(
            float(statistics[name][0]),
            statistics[name][1:],
            kind=_kind(name),
            n=n,
            clusters=count,
            reason=reason,
            confidence=confidence,
        )
        for name in (*COEFFICIENTS, *SHARES, "bias")
    }
    if is_continuous:
        estimates |= dict.fromkeys(OF_LEVELS, Estimate(value=None, reason="the scale has no levels"))
    return Agreement(
        n=n,
        prompts=count,
        levels=() if is_continuous else tuple(float(value) for value in scale),
        human_mean=float(human_values.mean()),
        judge_mean=float(judge_values.mean()),
        confusion=() if is_continuous else _confusion(cells),
        between=0 if is_continuous else _count_between(cells),
        resamples=len(resampled),
        **estimates,
    )


def _kind(name: str) -> EstimateKind:
    if name in COEFFICIENTS:
        return "coefficient"
    return "share" if name in SHARES else "unbounded"


def _validated(
    human: Sequence[float], judge: Sequence[float], levels: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    human_values, judge_values = np.asarray(human, dtype=float), np.asarray(judge, dtype=float)
    scale = np.asarray(levels, dtype=float)
    if len(human_values) != len(judge_values):
        raise ValueError(f"{len(human_values)} human values but {len(judge_values)} of the judge")
    if not len(human_values):
        raise ValueError("there are no pairs of a human and a judge's value")
    if len(scale) < 2 or not np.all(np.isfinite(scale)) or np.any(np.diff(scale) <= 0):
        raise ValueError(f"levels must be at least two finite numbers, ascending, got {list(levels)}")
    tolerance = POSITION_TOLERANCE * (scale[-1] - scale[0])
    for side, values in (("human", human_values), ("judge's", judge_values)):
        outside = values[~((values >= scale[0] - tolerance) & (values <= scale[-1] + tolerance))]
        if len(outside):
            raise ValueError(
                f"a {side} value is {outside[0]:g}, outside the levels {scale[0]:g} to {scale[-1]:g}"
            )
    return human_values, judge_values, scale


def _undefined_reason(human: NDArray[np.float64], judge: NDArray[np.float64]) -> str:
    constant = [side for side, values in (("human", human), ("judge's", judge)) if len(np.unique(values)) < 2]
    return f"undefined: all {' and all '.join(constant)} values are the same" if constant else "undefined"


def _confusion(cells: PairCells) -> tuple[tuple[int, ...], ...]:
    table = np.zeros((len(cells.levels),) * 2, dtype=int)
    np.add.at(table, (nearest_level(cells.human), nearest_level(cells.judge)), cells.total[0].astype(int))
    return tuple(tuple(int(count) for count in row) for row in table)


def _count_between(cells: PairCells) -> int:
    human, judge = (
        (np.abs(side - np.round(side)) > POSITION_TOLERANCE).astype(float)
        for side in (cells.human, cells.judge)
    )
    return int(cells.total[0] @ (human + judge))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointAgreement:
    """How well a judge's values agree with human ones on the answers of one checkpoint."""

    checkpoint: str
    n: int
    """Number of pairs of a human and a judge value."""
    prompts: int
    human_mean: float
    judge_mean: float
    quadratic_kappa: Estimate
    bias: Estimate
    """Mean of (judge's value - human value), in the unit of the values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithinAgreement:
    """Agreement within checkpoints: of all checkpoints together, and of each."""

    quadratic_kappa: Estimate
    """1 - D / E over all checkpoints, where D is the squared distance of human and judge value, and E the
    distance expected by chance between answers of the same checkpoint."""
    checkpoints: tuple[CheckpointAgreement, ...]


def measure_within(
    pairs: Sequence[RatedAnswer],
    *,
    levels: Sequence[float],
    resamples: int,
    confidence: float,
    seed: int,
) -> WithinAgreement | None:
    """Return the agreement within checkpoints; None if all answers are of one checkpoint."""
    groups: dict[tuple[str, str], list[RatedAnswer]] = {}
    for pair in pairs:
        groups.setdefault((pair.answer.task, pair.answer.checkpoint), []).append(pair)
    checkpoints = list(dict.fromkeys(checkpoint for _, checkpoint in groups))
    if len(checkpoints) < 2:
        return None
    names = [pair.answer.prompt for pair in pairs]
    index, count = cluster_index(names)
    number_of = dict(zip(names, index.tolist(), strict=True))
    scale = np.asarray(levels, dtype=float)
    drawn = resample_clusters(count, resamples if count >= MIN_INTERVAL_PROMPTS else 0, seed)
    weights = np.vstack([np.ones((1, count)), drawn])
    distances = np.zeros((2, len(weights)))
    for group in groups.values():
        distances += _distances(group, number_of, scale, weights)
    observed, expected = distances
    with np.errstate(divide="ignore", invalid="ignore"):
        kappas = np.where(expected > 0, 1 - observed / expected, np.nan)
    options: dict[str, Any] = {
        "levels": levels,
        "resamples": resamples,
        "confidence": confidence,
        "seed": seed,
    }
    return WithinAgreement(
        quadratic_kappa=bootstrap_estimate(
            float(kappas[0]),
            kappas[1:],
            kind="coefficient",
            n=len(pairs),
            clusters=count,
            reason="undefined: no checkpoint has two different values",
            confidence=confidence,
        ),
        checkpoints=tuple(
            _of_checkpoint(name, [pair for pair in pairs if pair.answer.checkpoint == name], **options)
            for name in checkpoints
        ),
    )


def _distances(
    group: Sequence[RatedAnswer],
    number_of: dict[str, int],
    scale: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the observed squared distance and that expected by chance, summed over a group of answers.

    By chance, a human value meets the judge's value of another answer of the group.
    """
    cells = pair_cells(
        np.array([pair.human for pair in group]),
        np.array([pair.value for pair in group]),
        np.array([number_of[pair.answer.prompt] for pair in group]),
        scale,
    )
    counts = weights[:, : len(cells.counts)] @ cells.counts
    sizes = counts.sum(axis=1)
    observed = counts @ np.square(cells.human - cells.judge)
    every = ((counts @ np.square(cells.human[:, None] - cells.judge[None, :])) * counts).sum(axis=1)
    has_others = sizes > 1
    expected = (every - observed) / np.where(has_others, sizes - 1, 1.0)
    both: NDArray[np.float64] = np.stack([observed, expected]) * has_others
    return both


def _of_checkpoint(
    checkpoint: str,
    pairs: Sequence[RatedAnswer],
    *,
    levels: Sequence[float],
    resamples: int,
    confidence: float,
    seed: int,
) -> CheckpointAgreement:
    agreement = measure_agreement(
        [pair.human for pair in pairs],
        [pair.value for pair in pairs],
        levels=levels,
        clusters=[pair.answer.prompt for pair in pairs],
        resamples=resamples,
        confidence=confidence,
        seed=seed,
    )
    return CheckpointAgreement(
        checkpoint=checkpoint,
        n=agreement.n,
        prompts=agreement.prompts,
        human_mean=agreement.human_mean,
        judge_mean=agreement.judge_mean,
        quadratic_kappa=agreement.quadratic_kappa,
        bias=agreement.bias,
    )

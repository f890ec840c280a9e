"""Measure the agreement of a judge with people within each checkpoint, apart from the spread between them.

A judge that only sees which checkpoint is bad orders the checkpoints as people do, so its kappa over all
answers is high. Within a checkpoint it agrees with nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.judges.calibration.agreement import measure_agreement
from hengwen.judges.calibration.estimates import (
    MIN_INTERVAL_PROMPTS,
    Estimate,
    bootstrap_estimate,
    cluster_index,
    resample_clusters,
)
from hengwen.judges.calibration.statistics import pair_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hengwen.judges.calibration.joining import RatedAnswer


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

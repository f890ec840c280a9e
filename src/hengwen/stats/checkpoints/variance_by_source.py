"""The variance of scores by its sources: errors of means, and changes drawn towards their mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceBySource:
    """Variance of the score of one answer, split by source; negative estimates of a part are set to 0."""

    prompt: float
    """Variance of the true means of prompts: some prompts are harder than others."""
    checkpoint: float
    """Variance of the true means of checkpoints on these prompts: scores change over training."""
    interaction: float
    """Variance of the interaction of prompt and checkpoint: how much the changes of the scores differ between
    prompts. If no prompt has several repeats, ``interaction`` includes the variance of the repeats."""
    repeat: float | None
    """Variance of the repeats of one prompt at one checkpoint; None if no prompt has several repeats. This
    variance includes ``judge``, the part that comes from the judge."""
    judge: float | None = None
    """The part of ``repeat`` that comes from the judge: the variance of a single judgment, divided by the
    number of judgments whose mean is the score. None if no answer was judged several times, or if the value
    of a level that the judge gave is unknown."""
    judge_unreadable: int = 0
    """Number of answers with a judge's level whose value cannot be computed from the stored scores. If this
    number is above 0, ``judge`` is None."""
    prompts: int
    """Number of prompts with a value at every checkpoint, from which the estimates come."""
    checkpoints: int


def variance_by_source(
    values: ArrayLike, repeats: ArrayLike, repeat_variance: float | None = None
) -> VarianceBySource | None:
    """Return how much of the variance of a score comes from prompts, checkpoints, interaction and repeats."""
    table, counts = np.asarray(values, np.float64), np.asarray(repeats, np.float64)
    complete = ~np.isnan(table).any(axis=1)
    cells = table[complete]
    prompts, checkpoints = cells.shape
    if prompts < 2 or checkpoints < 2:
        return None
    by_prompt, by_checkpoint = cells.mean(axis=1), cells.mean(axis=0)
    residuals = cells - by_prompt[:, None] - by_checkpoint + cells.mean()
    error = float(np.square(residuals).sum()) / ((prompts - 1) * (checkpoints - 1))
    noise = 0.0 if repeat_variance is None else repeat_variance * float((1 / counts[complete]).mean())
    return VarianceBySource(
        prompt=max(0.0, float(by_prompt.var(ddof=1)) - error / checkpoints),
        checkpoint=max(0.0, float(by_checkpoint.var(ddof=1)) - error / prompts),
        interaction=max(0.0, error - noise),
        repeat=repeat_variance,
        prompts=prompts,
        checkpoints=checkpoints,
    )


MAX_ROUNDS = 500
"""Maximum number of rounds in which missing values are replaced by fitted values."""


def fill_missing(table: Floats) -> Floats:
    """Return a table in which each missing value is replaced by its least-squares fit: row + column."""
    missing = np.isnan(table)
    if not missing.any():
        return table
    filled = np.where(missing, np.nanmean(table, axis=1, keepdims=True), table)
    scale = float(np.abs(filled).max()) or 1.0
    for _ in range(MAX_ROUNDS):
        fitted = np.where(missing, additive_part(filled), table)
        change = float(np.abs(fitted - filled).max())
        filled = fitted
        if change <= 1e-12 * scale:
            break
    return filled


def additive_part(table: Floats) -> Floats:
    """Return the mean of the row plus the mean of the column minus the mean of the table, for each cell."""
    by_row, by_column = table.mean(axis=1, keepdims=True), table.mean(axis=0)
    return np.asarray(by_row + by_column - table.mean(), np.float64)


def mean_variance(values: ArrayLike, clusters: Sequence[str]) -> float | None:
    """Return the squared standard error of a checkpoint's mean for fixed prompts."""
    table = np.asarray(values, np.float64)
    is_scored = ~np.isnan(table)
    has_score = is_scored.any(axis=1)
    table, is_scored = table[has_score], is_scored[has_score]
    _, codes = np.unique(np.asarray(clusters, dtype=str)[has_score], return_inverse=True)
    sizes = _by_cluster(is_scored.astype(np.float64), codes)
    groups, checkpoints = sizes.shape
    cells = int((sizes > 0).sum())
    freedom = cells - groups - checkpoints + 1
    prompts = sizes.sum(axis=0)
    if freedom <= 0 or checkpoints < 2 or (sizes == prompts).any():
        return None
    filled = fill_missing(table)
    sums = _by_cluster(np.where(is_scored, filled - additive_part(filled), 0.0), codes)
    jackknifed = sums / (1 - sizes / prompts)
    variances = np.square(jackknifed).sum(axis=0) / prompts**2 * (1 - 1 / groups) ** 2
    return float(variances.mean() * cells / freedom)


def _by_cluster(table: Floats, codes: NDArray[np.intp]) -> Floats:
    """Return the sums of the rows of each cluster, shape (clusters, columns)."""
    return np.stack([np.bincount(codes, weights=column) for column in table.T], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrunkenChanges:
    """Estimates of the true change of each prompt's value between two checkpoints."""

    changes: tuple[float, ...]
    """Estimated true change of each prompt:
    mean change of all prompts + tau^2 / (tau^2 + noise) * (measured change - mean change of all prompts).

    Here, tau^2 is ``true_variance``, and noise is the variance of the prompt's measured change that comes
    from repeats."""
    true_variance: float
    """Variance tau^2 of the true changes from prompt to prompt, at least 0."""


def shrink_changes(changes: ArrayLike, noise: ArrayLike) -> ShrunkenChanges:
    """Return empirical-Bayes estimates of the true change of each prompt's value between two checkpoints."""
    values, variances = np.asarray(changes, np.float64), np.asarray(noise, np.float64)
    between = float(values.var(ddof=1)) - float(variances.mean()) if len(values) > 1 else 0.0
    variance = max(0.0, between)
    totals = variance + variances
    shares = np.divide(variance, totals, out=np.zeros(len(values)), where=totals > 0)
    estimates = values.mean() + shares * (values - values.mean())
    return ShrunkenChanges(changes=tuple(estimates.tolist()), true_variance=variance)

"""Successive checkpoints: trend and jumps, change point, and the variance of scores by its sources.

The tests compare checkpoints with each other: each checkpoint has one value, its mean over prompts. Between
two checkpoints of a training run, a mean always moves a little; the tests compare a change with these usual
movements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.power import POWER

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


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


MIN_PETTITT = 8
"""Minimum number of checkpoints; with 6 or 7 checkpoints, no order of the values has a p-value below .10."""
MAX_ORDERS = 40_320
"""Number of orders of 8 checkpoints (8!), which are all evaluated. For more checkpoints, ``RESAMPLES`` random
orders are drawn."""
RESAMPLES = 9999


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """The most likely change point of a sequence, and its p-value."""

    index: int
    """Index of the first value after the change."""
    statistic: float
    """Largest absolute value of Pettitt's rank statistic U over all positions of the change."""
    p: float
    """Share of the orders of the values that have a statistic at least as large as the observed statistic."""
    checkpoints: int


def pettitt_test(values: ArrayLike) -> ChangePoint | None:
    """Test whether the values of a sequence become higher or lower at one unknown position."""
    from scipy.stats import permutation_test, rankdata

    ranks = rankdata(np.asarray(values, np.float64))
    n = len(ranks)
    if n < MIN_PETTITT or np.ptp(ranks) == 0:
        return None
    sizes = np.abs(_statistics(ranks))
    result = permutation_test(
        (ranks,),
        lambda orders, axis: np.abs(_statistics(np.moveaxis(orders, axis, -1))).max(axis=-1),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=MAX_ORDERS if n == MIN_PETTITT else RESAMPLES,
        batch=max(1, 2_000_000 // n),
        alternative="greater",
        rng=np.random.default_rng(0),
    )
    return ChangePoint(
        index=int(sizes.argmax()) + 1,
        statistic=float(sizes.max()),
        p=float(result.pvalue),
        checkpoints=n,
    )


def _statistics(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Pettitt's U after each value except the last: 2 * (sum of the first t ranks) - t (n + 1)."""
    n = ranks.shape[-1]
    sums = np.cumsum(ranks, axis=-1)[..., :-1]
    return np.asarray(2 * sums - np.arange(1, n) * (n + 1), np.float64)


MIN_CHECKPOINTS = 4
"""Minimum number of checkpoints of a test. With fewer checkpoints, a trend cannot be told from the usual
movement of single checkpoints."""
MIN_CORRELATED = 5
"""Minimum number of checkpoints of a test that allows for neighbours that move together."""
MAX_CORRELATION = 0.97
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class SlopeTest:
    """Least-squares line through the values of K checkpoints at positions 0 to K - 1, and its t test."""

    slope: float
    """Change of the line from one checkpoint to the next."""
    interval: tuple[float, float]
    """95 % interval of the slope, not corrected for the number of tests."""
    p: float
    """Two-sided p-value of Student's t test with ``freedom`` degrees of freedom."""
    error: float
    """Standard error of the slope."""
    freedom: float
    """Degrees of freedom: K - 2 for independent checkpoints, fewer if neighbours move together."""
    correlation: float
    """Correlation of neighbouring checkpoints that the test allows for; 0 if it takes them as independent."""
    residual_sd: float
    """Standard deviation of the values around the line: how far a checkpoint usually moves."""
    checkpoints: int

    @property
    def total(self) -> float:
        """Change of the line from the first to the last checkpoint."""
        return self.slope * (self.checkpoints - 1)

    @property
    def total_interval(self) -> tuple[float, float]:
        """95 % interval of ``total``, not corrected for the number of tests."""
        steps = self.checkpoints - 1
        return self.interval[0] * steps, self.interval[1] * steps

    @property
    def signal_to_noise(self) -> float:
        """Absolute change of the line from the first to the last checkpoint, divided by ``residual_sd``."""
        return abs(self.total) / self.residual_sd

    def detectable(self, alpha: float = 0.05, power: float = POWER) -> float:
        """Return the smallest true ``total`` that a test at level ``alpha`` detects with power ``power``."""
        return _quantile_sum(self.freedom, alpha, power) * self.error * (self.checkpoints - 1)


def slope_test(
    values: ArrayLike, *, correlated: bool = False, positions: ArrayLike | None = None
) -> SlopeTest | None:
    """Test whether the values of checkpoints follow a line that rises or falls."""
    # With `correlated`, the test allows for neighbours that move together: it estimates their correlation
    # from the residuals, and takes a larger error and fewer degrees of freedom. `positions` are those of the
    # checkpoints, by default 0 to K - 1.
    array = np.asarray(values, np.float64)
    n = len(array)
    if n < (MIN_CORRELATED if correlated else MIN_CHECKPOINTS):
        return None
    from scipy.special import stdtr, stdtrit
    from scipy.stats import linregress

    places = np.arange(n) if positions is None else np.asarray(positions)
    line = linregress(places, array)
    residuals = array - line.intercept - line.slope * places
    spread = sqrt(float(np.square(residuals).sum()) / (n - 2))
    if spread <= _ROUNDING * _size(array):
        return None
    correlation = _neighbour_correlation(residuals) if correlated else 0.0
    inflation = (1 + correlation) / (1 - correlation)
    error = float(line.stderr) * sqrt(inflation * max((n - 2) / max(n - 2 * inflation, 1), 1))
    freedom = max(n / inflation - 2, 2)
    half = float(stdtrit(freedom, 0.975)) * error
    return SlopeTest(
        slope=float(line.slope),
        interval=(float(line.slope) - half, float(line.slope) + half),
        p=float(2 * stdtr(freedom, -abs(line.slope) / error)),
        error=error,
        freedom=freedom,
        correlation=correlation,
        residual_sd=spread,
        checkpoints=n,
    )


def _neighbour_correlation(residuals: NDArray[np.float64]) -> float:
    """Return the lag-1 correlation, corrected for the line and drawn towards a small positive value."""
    n = len(residuals)
    raw = float((residuals[1:] * residuals[:-1]).sum() / np.square(residuals).sum())
    unbiased = min(max((n * raw + 2) / (n - 4), -0.5), MAX_CORRELATION)
    return min(max(((n - 4) * unbiased + 1.6) / (n + 4), 0.0), MAX_CORRELATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestTest:
    """Student's t test of the newest value against the mean of the values before it, or against the last."""

    difference: float
    """Newest value minus the mean of the values before it (``newest_test``) or the last (``jump_test``)."""
    interval: tuple[float, float]
    """95 % interval of the difference, not corrected for the number of tests."""
    p: float
    """Two-sided p-value of Student's t test with ``freedom`` degrees of freedom."""
    error: float
    """Standard error of the difference. Never smaller than the argument ``min_variance`` implies."""
    freedom: int

    def detectable(self, alpha: float = 0.05, power: float = POWER) -> float:
        """Return the smallest true difference that a test at level ``alpha`` detects with power ``power``."""
        return _quantile_sum(self.freedom, alpha, power) * self.error


def newest_test(values: ArrayLike, *, min_variance: float = 0.0) -> NewestTest | None:
    """Test whether the newest checkpoint is farther from its predecessors than they are from each other."""
    array = np.asarray(values, np.float64)
    earlier = array[:-1]
    n = len(earlier)
    if n < MIN_CHECKPOINTS - 1:
        return None
    variance = max(float(earlier.var(ddof=1)), min_variance)
    error = sqrt(variance * (1 + 1 / n))
    return _newest_test(float(array[-1] - earlier.mean()), error, n - 1, array)


def jump_test(values: ArrayLike, *, min_variance: float = 0.0) -> NewestTest | None:
    """Test whether the last step is larger than the steps before it, which may depend on each other."""
    array = np.asarray(values, np.float64)
    if len(array) < MIN_CORRELATED:
        return None
    *earlier, last = np.diff(array)
    variance = max(float(np.square(earlier).mean()), 2 * min_variance)
    return _newest_test(float(last), sqrt(variance), len(earlier) - 1, array)


def _newest_test(
    difference: float, error: float, freedom: int, array: NDArray[np.float64]
) -> NewestTest | None:
    from scipy.special import stdtr, stdtrit

    if error <= _ROUNDING * _size(array):
        return None
    half = float(stdtrit(freedom, 0.975)) * error
    return NewestTest(
        difference=difference,
        interval=(difference - half, difference + half),
        p=float(2 * stdtr(freedom, -abs(difference) / error)),
        error=error,
        freedom=freedom,
    )


def _size(array: NDArray[np.float64]) -> float:
    return float(np.abs(array).max()) or 1.0


def _quantile_sum(freedom: float, alpha: float, power: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - alpha / 2) + stdtrit(freedom, power))

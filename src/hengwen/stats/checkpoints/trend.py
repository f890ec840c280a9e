"""Test whether a score moved more than it usually moves from checkpoint to checkpoint.

The tests of this module compare checkpoints with each other: each checkpoint has one value, its mean over
prompts. Between two checkpoints of a training run, a mean always moves a little; the tests compare a change
with these usual movements.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.power import POWER

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

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
    """Test whether the values of checkpoints follow a line that rises or falls.

    With ``correlated``, the test allows for neighbours that move together: it estimates their correlation
    from the residuals, and takes a larger error and fewer degrees of freedom. ``positions`` are those of the
    checkpoints, by default 0 to K - 1.
    """
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

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
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class SlopeTest:
    """Least-squares line through the values of K checkpoints at positions 0 to K - 1, and its t test."""

    slope: float
    """Change of the line from one checkpoint to the next."""
    interval: tuple[float, float]
    """95 % interval of the slope, not corrected for the number of tests."""
    p: float
    """Two-sided p-value of Student's t test with K - 2 degrees of freedom."""
    error: float
    """Standard error of the slope."""
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
        return _quantile_sum(self.checkpoints - 2, alpha, power) * self.error * (self.checkpoints - 1)


def slope_test(values: ArrayLike) -> SlopeTest | None:
    """Test whether the values of checkpoints follow a line that rises or falls."""
    array = np.asarray(values, np.float64)
    n = len(array)
    if n < MIN_CHECKPOINTS:
        return None
    from scipy.special import stdtrit
    from scipy.stats import linregress

    positions = np.arange(n)
    line = linregress(positions, array)
    residuals = array - line.intercept - line.slope * positions
    spread = sqrt(float(np.square(residuals).sum()) / (n - 2))
    if spread <= _ROUNDING * _size(array):
        return None
    half = float(stdtrit(n - 2, 0.975)) * float(line.stderr)
    return SlopeTest(
        slope=float(line.slope),
        interval=(float(line.slope) - half, float(line.slope) + half),
        p=float(line.pvalue),
        error=float(line.stderr),
        residual_sd=spread,
        checkpoints=n,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestTest:
    """Student's t test of the newest value against the mean of the values before it (its predecessors)."""

    difference: float
    """Newest value minus the mean of the predecessors."""
    interval: tuple[float, float]
    """95 % interval of the difference, not corrected for the number of tests."""
    p: float
    """Two-sided p-value of Student's t test with ``predecessors - 1`` degrees of freedom."""
    error: float
    """Standard error of the difference: sd * sqrt(1 + 1 / predecessors), where sd is the standard deviation
    of the predecessors. If the argument ``min_variance`` of ``newest_test`` is greater than sd^2, sd is the
    square root of ``min_variance``."""
    predecessors: int

    def detectable(self, alpha: float = 0.05, power: float = POWER) -> float:
        """Return the smallest true difference that a test at level ``alpha`` detects with power ``power``."""
        return _quantile_sum(self.predecessors - 1, alpha, power) * self.error


def newest_test(values: ArrayLike, *, min_variance: float = 0.0) -> NewestTest | None:
    """Test whether the newest checkpoint is farther from its predecessors than they are from each other."""
    array = np.asarray(values, np.float64)
    earlier = array[:-1]
    n = len(earlier)
    if n < MIN_CHECKPOINTS - 1:
        return None
    from scipy.special import stdtr, stdtrit

    variance = max(float(earlier.var(ddof=1)), min_variance)
    if sqrt(variance) <= _ROUNDING * _size(array):
        return None
    error = sqrt(variance * (1 + 1 / n))
    difference = float(array[-1] - earlier.mean())
    half = float(stdtrit(n - 1, 0.975)) * error
    return NewestTest(
        difference=difference,
        interval=(difference - half, difference + half),
        p=float(2 * stdtr(n - 1, -abs(difference) / error)),
        error=error,
        predecessors=n,
    )


def _size(array: NDArray[np.float64]) -> float:
    return float(np.abs(array).max()) or 1.0


def _quantile_sum(freedom: int, alpha: float, power: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - alpha / 2) + stdtrit(freedom, power))

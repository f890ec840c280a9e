"""Differences of independent estimates, and whether an effect is equivalent to none."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, hypot, sqrt

EQUIVALENCE_CONFIDENCE = 0.9
"""Confidence level of the interval of a difference; if the interval lies within the margin, the means count
as equivalent. A test of equivalence by a 90 % interval equals two one-sided tests at a significance level of
5 %."""
EQUIVALENCE_POWER = 0.8
"""Probability that a sample of the reported size shows the equivalence of two means that are in truth
equal."""
MAX_UNITS = 10_000_000


def is_within(interval: tuple[float, float] | None, margin: float) -> bool:
    """Return whether an interval of a difference lies within plus and minus a margin."""
    return interval is not None and -margin <= interval[0] and interval[1] <= margin


def scale_factor(error: float, margin: float) -> float:
    """Return the factor by which a sample must grow to show that a difference is within a margin."""
    return float((_quantiles() * error / margin) ** 2)


def units_needed(deviation: float, margin: float, *, reach: float | None = None) -> int | None:
    """Return how many units show that a mean difference is within a margin."""
    if not deviation and reach is None:
        return None
    if reach is None:
        units = max(2, ceil(scale_factor(deviation, margin)))
        return units if units <= MAX_UNITS else None
    low, high = 2, MAX_UNITS
    if _error(high, deviation, reach) * _quantiles() > margin:
        return None
    while low < high:  # the error falls with the number of units
        middle = (low + high) // 2
        if _error(middle, deviation, reach) * _quantiles() <= margin:
            high = middle
        else:
            low = middle + 1
    return low


def _error(units: int, deviation: float, reach: float) -> float:
    return sqrt((units * deviation**2 + 2 * reach**2) / ((units + 1) * (units + 2)))


def _quantiles() -> float:
    """Return the sum of two normal quantiles: for the confidence of the interval, and for the power."""
    from scipy.special import ndtri

    return float(ndtri((1 + EQUIVALENCE_CONFIDENCE) / 2) + ndtri((1 + EQUIVALENCE_POWER) / 2))


Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanEstimate:
    """An estimate with its standard error and degrees of freedom."""

    value: float
    error: float
    """Standard error; 0 if all values are equal."""
    freedom: float
    """Degrees of freedom of the standard error, > 0."""

    def minus(self, other: MeanEstimate) -> MeanEstimate:
        """Return this estimate minus an independent estimate, with the degrees of freedom of Welch's test."""
        error = hypot(self.error, other.error)
        parts = self.error**4 / self.freedom + other.error**4 / other.freedom
        freedom = error**4 / parts if parts else self.freedom + other.freedom
        return MeanEstimate(value=self.value - other.value, error=error, freedom=freedom)

    @property
    def is_error_zero(self) -> bool:
        """Whether the standard error is 0 apart from rounding, so that a t test is impossible."""
        return self.error <= 1e-12 * max(1.0, abs(self.value))

    @property
    def p(self) -> float:
        """Two-sided p-value of the t test whether the true value is 0; 1 if the standard error is 0."""
        if self.is_error_zero:
            return 1.0
        from scipy.special import stdtr

        return float(2 * stdtr(self.freedom, -abs(self.value) / self.error))

    def detectable(self, alpha: float = 0.05, power: float = 0.8) -> float | None:
        """Return the smallest true value that a t test at ``alpha`` detects with probability ``power``."""
        if self.is_error_zero:
            return None
        from scipy.special import stdtrit

        return float(stdtrit(self.freedom, 1 - alpha / 2) + stdtrit(self.freedom, power)) * self.error


def interval_of_difference(
    first: float, first_bounds: Bounds | None, second: float, second_bounds: Bounds | None
) -> Bounds | None:
    """Return the interval of ``first - second`` from the intervals of two independent estimates."""
    if first_bounds is None or second_bounds is None:
        return None
    difference = first - second
    return (
        difference - hypot(first - first_bounds[0], second_bounds[1] - second),
        difference + hypot(first_bounds[1] - first, second - second_bounds[0]),
    )

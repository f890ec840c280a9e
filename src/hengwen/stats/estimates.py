"""The difference of two independent estimates, with interval and p-value."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

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

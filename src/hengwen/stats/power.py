"""Power of a t test: the probability that it detects a true effect, and the smallest effect it detects.

Where nothing changed, the differences of a discrete score are mostly 0, and their variance says little
about the variance after a fall. A fall by ``d`` in jumps of size ``s`` moves a share ``d / s`` of the
prompts, which adds ``d (s - d)`` to the variance.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, hypot, inf, isfinite, isnan, pi, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from hengwen.stats.mean_interval import cluster_sums

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


POWER = 0.8
"""Default probability of detecting an effect, from which sample sizes and smallest detectable effects
follow."""
MAX_PROMPTS = 1_000_000
"""Largest number of prompts that ``least_number`` returns."""
LARGEST_NONCENTRALITY = 1e9
"""Largest effect, in standard errors, for which the power is computed; larger effects are replaced by this
limit, because scipy returns NaN for larger effects."""
STEPS = 2**34
"""Number of steps between the ends of an interval in which a root is sought."""
MIN_UNITS = 12
"""Fewest effective clusters from which a smallest detectable difference is estimated."""
MAX_EQUAL_SHARE = 0.6
"""Largest share of clusters without a difference from which that of a continuous score is estimated."""


def power_of_t(
    effect: float, error: float, freedom: float, alpha: float = 0.05, *, sides: Literal[1, 2] = 2
) -> float:
    """Return the probability that a t test detects a true effect."""
    if not (isfinite(effect) and isfinite(error) and error > 0 and freedom > 0 and 0 < alpha < 1):
        raise ValueError(
            f"no power of effect {effect:g} with standard error {error:g}, {freedom:g} degrees of freedom and"
            f" level {alpha:g}: the effect must be finite, error and freedom > 0, the level in (0, 1)"
        )
    from scipy.special import nctdtr, stdtrit  # scipy.stats.nct takes 100 times as long

    quantile = float(stdtrit(freedom, 1 - alpha / sides))
    noncentrality = max(-LARGEST_NONCENTRALITY, min(effect / error, LARGEST_NONCENTRALITY))
    tails = (float(nctdtr(freedom, abs(noncentrality), bound)) for bound in (quantile, -quantile))
    below, against = (0.0 if isnan(tail) else tail for tail in tails)  # NaN where a tail is too small
    along = 1.0 - below
    if sides == 2:
        return min(1.0, along + against)
    return along if noncentrality >= 0 else against


def detectable_effect(
    error: float, freedom: float, alpha: float = 0.05, power: float = 0.8, *, sides: Literal[1, 2] = 2
) -> float:
    """Return the smallest true effect that a t test detects with a given probability."""
    if not (isfinite(error) and error > 0 and alpha < power < 1):
        raise ValueError(
            f"no effect is detected with power {power:g} at level {alpha:g} and standard error {error:g}: the"
            " power must lie between the level and 1, and the error must be > 0"
        )

    def missing(effect: float) -> float:
        return power_of_t(effect, 1.0, freedom, alpha, sides=sides) - power

    high = 4.0
    while missing(high) < 0:
        high *= 2
    return error * _root(missing, 0.0, high)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function becomes positive; to import scipy.optimize takes longer than all roots."""
    step = (high - low) / STEPS
    return low + step * bisect_left(range(STEPS), 0.0, key=lambda i: function(low + step * i))


def detectable_fall(
    error_at: Callable[[float], float], limit: float, freedom: float, alpha: float, power: float = POWER
) -> float | None:
    """Return the smallest fall up to ``limit`` that is detected, if a fall changes the standard error."""

    def missing(fall: float) -> float:
        return power_of_t(fall, max(error_at(fall), 1e-12 * limit), freedom, alpha) - power

    largest = limit * (1 - 1e-9)
    return _root(missing, 1e-9 * limit, largest) if missing(largest) > 0 else None


def detectable_difference(
    differences: ArrayLike,
    clusters: Sequence[str] | None,
    alpha: float = 0.05,
    *,
    span: float = inf,
    continuous: bool = True,
    power: float = POWER,
) -> float | None:
    """Return the smallest true difference that a sign-flip test detects; None if it cannot be estimated."""
    # `span` is the range of the scale, `alpha` the level of the test, corrected for its family.
    array = np.asarray(differences, np.float64)
    sums, sizes = cluster_sums(array, clusters)
    units, effective = len(sums), float(sizes.sum() ** 2 / np.square(sizes).sum())
    if effective < MIN_UNITS:
        return None
    residuals = sums - array.mean() * sizes
    error = sqrt(units / (units - 1) * float(np.square(residuals).sum())) / len(array)
    moved = int(np.count_nonzero(sums))
    if continuous or span == inf:
        squares = float(np.square(sums).sum())
        if moved < (1 - MAX_EQUAL_SHARE) * units or error <= 1e-9 * abs(float(array.mean())):
            return None
        if not can_be_significant(units, float(np.abs(sums).sum()) ** 2 / squares, moved, alpha):
            return None
        smallest: float | None = detectable_effect(error, effective - 1, alpha, power)
    else:
        jump = jump_of(array, span)
        smallest = detectable_fall(
            lambda fall: sqrt(error**2 + fall * (jump - fall) / effective), jump, effective - 1, alpha, power
        )
        if smallest is not None:
            fallen = min(effective, effective * (moved / units + smallest / jump))
            smallest = smallest if can_be_significant(effective, fallen, fallen, alpha) else None
    return smallest if smallest is not None and smallest <= span else None


def jump_of(differences: ArrayLike, span: float) -> float:
    """Return the usual size of a difference that is not 0, at least half of the scale."""
    array = np.abs(np.asarray(differences, np.float64))
    total = float(array.sum())
    return max(float(np.square(array).sum()) / total, span / 2) if total else span


def can_be_significant(units: float, square: float, moved: float, alpha: float) -> bool:
    """Return whether differences of one sign would be significant."""
    from scipy.special import stdtrit

    if 2.0 ** (1 - moved) > alpha:
        return False
    critical = float(stdtrit(units - 1, 1 - alpha / 2))
    return square * (units - 1) >= critical**2 * max(units - square, 0.0)


def least_number(is_enough: Callable[[int], bool], least: int = 2) -> int | None:
    """Return the smallest number of prompts that is enough; None if it is above a million."""
    if is_enough(least):
        return least
    low, high = least, 2 * least
    while not is_enough(high):
        if high > MAX_PROMPTS:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high if high <= MAX_PROMPTS else None


def alpha_at_look(look: int, alpha: float = 0.05) -> float:
    """Return the significance level of the tests at look k: 6 alpha / (pi^2 k^2)."""
    if look < 1 or not 0 < alpha < 1:
        raise ValueError(f"no level for look {look} with alpha {alpha}")
    return 6 * alpha / (pi * look) ** 2


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

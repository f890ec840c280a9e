"""Test whether two means differ by less than a margin, and compute the sample size for such a test."""

from __future__ import annotations

from math import ceil, sqrt

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

"""Power of a t test: the probability that it detects a true effect, and the smallest effect it detects."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

POWER = 0.8
"""Default probability of detecting an effect, from which sample sizes and smallest detectable effects
follow."""
MAX_PROMPTS = 1_000_000
"""Largest number of prompts that ``least_number`` returns."""
LARGEST_NONCENTRALITY = 1e9
"""Largest effect, in standard errors, for which the power is computed; larger effects are replaced by this
limit, because scipy returns NaN for larger effects."""


def power_of_t(
    effect: float, error: float, freedom: float, alpha: float = 0.05, *, sides: Literal[1, 2] = 2
) -> float:
    """Return the probability that a t test detects a true effect."""
    if not (isfinite(effect) and isfinite(error) and error > 0 and freedom > 0 and 0 < alpha < 1):
        raise ValueError(
            f"no power of effect {effect:g} with standard error {error:g}, {freedom:g} degrees of freedom and"
            f" level {alpha:g}: the effect must be finite, error and freedom > 0, the level in (0, 1)"
        )
    from scipy.special import stdtrit
    from scipy.stats import nct

    quantile = float(stdtrit(freedom, 1 - alpha / sides))
    noncentrality = max(-LARGEST_NONCENTRALITY, min(effect / error, LARGEST_NONCENTRALITY))
    above = float(nct.sf(quantile, freedom, noncentrality))
    return above if sides == 1 else min(1.0, above + float(nct.sf(quantile, freedom, -noncentrality)))


def detectable_effect(
    error: float, freedom: float, alpha: float = 0.05, power: float = 0.8, *, sides: Literal[1, 2] = 2
) -> float:
    """Return the smallest true effect that a t test detects with a given probability."""
    if not (isfinite(error) and error > 0 and alpha < power < 1):
        raise ValueError(
            f"no effect is detected with power {power:g} at level {alpha:g} and standard error {error:g}: the"
            " power must lie between the level and 1, and the error must be > 0"
        )
    from scipy.optimize import brentq

    def missing(effect: float) -> float:
        return power_of_t(effect, 1.0, freedom, alpha, sides=sides) - power

    high = 4.0
    while missing(high) < 0:
        high *= 2
    return error * float(brentq(missing, 0.0, high, xtol=1e-10))


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

"""Compute the number of prompts that a gate probably needs to be decided."""

from __future__ import annotations

from math import isfinite, sqrt

from hengwen.stats.power import POWER, least_number, power_of_t


def needed_prompts(effect: float, error: float, prompts: int, alpha: float) -> int | None:
    """Return the number of prompts with which a one-sided t test detects an effect with probability .8.

    Args:
        effect: Distance of the true value from the limit of the gate, > 0.
        error: Standard error of the value with ``prompts`` prompts.
        prompts: Number of prompts (of clusters, if prompts form clusters) behind ``error``, at least 2.
        alpha: One-sided level.

    Returns:
        A number of prompts (of clusters); None if the effect or the error is 0, or if more than a million are
        needed.

    Examples:
        >>> needed_prompts(2.0, 2.675, 26, 0.05)
        289
    """
    if not (effect > 0 and error > 0 and isfinite(effect) and isfinite(error)):
        return None

    def is_enough(count: int) -> bool:
        return power_of_t(effect, error * sqrt(prompts / count), count - 1, alpha, sides=1) >= POWER

    return least_number(is_enough)

"""How many prompts would tell what a comparison of two checkpoints leaves open."""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING

from hengwen.results.comparisons import ALPHA
from hengwen.stats.power import POWER, least_number, power_of_t

if TYPE_CHECKING:
    from hengwen.results.comparisons import Comparison

MIN_UNITS = 12
"""Minimum number of independent prompts from which the number of prompts to tell a difference is computed."""


def prompts_within(pair: Comparison, slack: float) -> int | None:
    """Return how many prompts would show that a checkpoint is within a margin, with power 80 %.

    ``slack`` is the part of the margin that the observed difference leaves, if it is the true one.
    """
    test = pair.test
    if slack <= 0 or test.clusters < MIN_UNITS or not test.error:
        return None
    deviation = test.error * sqrt(test.clusters)

    def is_enough(clusters: int) -> bool:
        return power_of_t(slack, deviation / sqrt(clusters), clusters - 1, ALPHA / 2, sides=1) >= POWER

    clusters = least_number(is_enough, MIN_UNITS)
    return None if clusters is None else ceil(clusters * test.prompts / test.clusters)


def prompts_to_tell(pair: Comparison) -> int | None:
    """Return how many prompts would show the difference of a pair, if it is the true one, with power 80 %."""
    test = pair.test
    if pair.level is None or pair.detectable is None or pair.verdict == "mean undecided":
        return None
    if test.clusters < MIN_UNITS or not test.difference:
        return None
    level, deviation = pair.level, test.error * sqrt(test.clusters)

    def is_enough(clusters: int) -> bool:
        return power_of_t(test.difference, deviation / sqrt(clusters), clusters - 1, level) >= POWER

    clusters = least_number(is_enough, MIN_UNITS)
    return None if clusters is None else ceil(clusters * test.prompts / test.clusters)

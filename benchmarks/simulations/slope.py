"""Sizes and power of the tests of checkpoint means: of the slope, the newest mean and the last step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.stats.checkpoints import simulations
from tests.stats.checkpoints.simulations import (
    WALK,
    correlated_slope,
    courses,
    falls,
    rejections,
    slope_rejections,
)

from harness.figures import Figure
from hengwen.stats.checkpoints import jump_test, newest_test, slope_test

if TYPE_CHECKING:
    from collections.abc import Iterator

COURSES = {"independent": 0.0, "AR(1) .3": 0.3, "AR(1) .6": 0.6, "random walk": WALK}
SIZES = {"independent": 0.035, "AR(1) .3": 0.065, "AR(1) .6": 0.105, "random walk": 0.28}
"""Largest share of courses without a trend that the test for neighbours that move together may name."""


def figures(samples: int) -> Iterator[Figure]:
    """Measure how often courses without a trend have one, and how often a fall is seen."""
    for name, correlation in COURSES.items():
        for checkpoints in (5, 6, 8, 12, 20, 40):
            values = courses(correlation, checkpoints, samples)
            case = f"no trend, {name}, {checkpoints} checkpoints"
            yield _figure(f"{case}: slope, independent", rejections(slope_test, values))
            share = rejections(correlated_slope, values)
            yield _figure(f"{case}: slope, neighbours together", share, high=SIZES[name] + 0.02)
            yield _figure(f"{case}: newest", rejections(newest_test, values), high=0.17)
            yield _figure(f"{case}: last step", rejections(jump_test, values), high=0.07)
        share = simulations.named_at_any_look(correlation, max(1, samples // 5))
        yield _figure(f"no trend, {name}, 36 looks: slope", share)
        withdrawn = simulations.withdrawn(courses(correlation, 20, samples))
        yield _figure(f"no trend, {name}, 20 checkpoints: withdrawn at worst", withdrawn)
    for checkpoints in (5, 6, 8, 12):
        for fall in (0.6, 0.9, 1.2):
            values = falls(fall, checkpoints, samples)
            case = f"fall of {fall:g}, {checkpoints} checkpoints"
            yield _figure(f"{case}: slope, independent", rejections(slope_test, values))
            yield _figure(f"{case}: slope, neighbours together", rejections(correlated_slope, values))
    for checkpoints in (4, 5, 6, 8):
        share = slope_rejections(checkpoints, jitter=simulations.JITTER, fall=0.6, samples=samples)
        yield _figure(f"five levels, fall of .6, {checkpoints} checkpoints: slope, independent", share)


def _figure(case: str, value: float, high: float | None = None) -> Figure:
    return Figure(case=case, value=value, unit="", low=None, high=high)

"""The state of a ``Monitor`` after each score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AlarmDirection = Literal["both", "down", "up"]
"""Changes that raise an alarm: of the mean in either direction, a lower mean only, or a higher mean only."""
SCHEMA = 1
"""Version of the format that ``Monitor.to_dict`` returns."""
MIN_ALPHA, MAX_ALPHA = 0.001, 0.5
"""Lowest and highest ``alpha``, the probability of a false alarm. The alarm thresholds come from simulations,
which are too few for an ``alpha`` below 0.001."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """The first alarm of a stream."""

    direction: Literal["down", "up"]
    at: int
    """Number of the score that raised the alarm; the first score of the stream is 1."""
    since: int
    """Number of the score with which the change probably began: the first one after the statistic was last
    0. This number is an estimate without an interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorState:
    """A stream after ``n`` scores, and whether there is an alarm."""

    n: int
    """Number of scores so far."""
    alarm: Alarm | None
    """The first alarm; it stays, whatever the later scores are."""
    within_horizon: bool
    """Whether ``n``, the number of scores so far, is at most the horizon. Beyond the horizon, a false alarm
    is more likely than ``alpha``."""
    up: float | None
    """CUSUM statistic for a higher mean; None if only a lower mean raises an alarm."""
    up_threshold: float | None
    """Threshold of ``up``: an alarm is raised when ``up`` exceeds it. None if ``up`` is None."""
    down: float | None
    """CUSUM statistic for a lower mean; None if only a higher mean raises an alarm."""
    down_threshold: float | None
    """Threshold of ``down``: an alarm is raised when ``down`` exceeds it. None if ``down`` is None."""
    mean: float | None
    """Mean of the scores so far; None before the first."""
    interval: tuple[float, float] | None
    """Confidence interval of the average expected value of the scores so far, which stays valid if it is read
    after every score. If the monitor has no ``scale`` (lowest and highest possible score), the interval is
    None before 100 scores and while all scores are equal."""
    baseline_mean: float
    baseline_correlation: float
    """Correlation of neighbouring scores of the baseline, with which the thresholds are simulated; 0 if none
    is seen."""
    difference: float | None
    """``mean`` minus ``baseline_mean``."""
    difference_interval: tuple[float, float] | None
    """Confidence interval of ``difference``, which includes the error of the baseline's mean and stays valid
    if it is read after every score. None if ``interval`` is None, or if all baseline scores are equal and the
    monitor has no ``scale``."""

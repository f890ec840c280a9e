"""The state of a ``Monitor`` after each score, and the check of a saved monitor, field by field."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

AlarmDirection = Literal["both", "down", "up"]
"""Changes that raise an alarm: of the mean in either direction, a lower mean only, or a higher mean only."""
SCHEMA = 1
"""Version of the format that ``Monitor.to_dict`` returns."""
MIN_ALPHA, MAX_ALPHA = 0.001, 0.5
"""Lowest and highest ``alpha``, the probability of a false alarm. The alarm thresholds come from simulations,
which are too few for an ``alpha`` below 0.001."""
_PARTS = (
    "schema",
    "settings",
    "baseline",
    "thresholds",
    "n",
    "total",
    "sums",
    "zero_at",
    "alarm",
    "sequence",
)


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


def check_saved(data: Mapping[str, Any]) -> None:
    """Raise unless the data have the fields that ``Monitor.to_dict`` returns, with possible values."""
    saved = _Fields(data)
    saved.require("schema")
    if data["schema"] != SCHEMA or isinstance(data["schema"], bool):
        saved.refuse("schema", f"must be {SCHEMA}, got {reprlib.repr(data['schema'])}")
    saved.check_names(*_PARTS)
    _check_settings(saved.part("settings"))
    _check_baseline(saved.part("baseline"))
    saved.whole("n")
    n: int = data["n"]
    saved.number("total")
    for name in ("thresholds", "sums", "zero_at"):
        part = saved.part(name)
        part.check_names("up", "down")
        for direction in ("up", "down"):
            if name == "zero_at":
                part.whole(direction, 0, n)
            else:
                part.number(direction, 0)
    if data["alarm"] is not None:
        alarm = saved.part("alarm")
        alarm.check_names("direction", "at", "since")
        alarm.choice("direction", "down", "up")
        alarm.whole("at", 1, n)
        alarm.whole("since", 1, alarm.data["at"])
    sequence = saved.part("sequence")
    spread = "squares" if data["settings"]["scale"] is None else "variance"
    centre = "mean" if data["settings"]["scale"] is None else "sum"
    sequence.check_names("n", centre, spread)
    sequence.whole("n", n, n)
    sequence.number(centre)
    sequence.number(spread, 0)


def _check_settings(settings: _Fields) -> None:
    settings.check_names("alpha", "horizon", "direction", "scale", "reference_value")
    settings.number("alpha", MIN_ALPHA, MAX_ALPHA)
    settings.whole("horizon", 1)
    settings.choice("direction", "both", "down", "up")
    settings.bounds("scale")
    settings.number("reference_value", 0)


def _check_baseline(baseline: _Fields) -> None:
    baseline.check_names("mean", "interval", "constant", "chart_mean", "chart_sd", "correlation")
    baseline.number("mean")
    baseline.bounds("interval")
    if baseline.data["constant"] is not None:
        baseline.number("constant")
    baseline.number("chart_mean")
    baseline.number("chart_sd", 0)
    baseline.number("correlation", 0, 1)
    if baseline.data["chart_sd"] == 0:
        baseline.refuse("chart_sd", "must be a number above 0, got 0")


@dataclass(frozen=True, slots=True)
class _Fields:
    """Check the fields of a saved monitor, or of one part of it such as ``settings``."""

    data: Mapping[str, Any]
    path: str = ""
    """Text before the name of each field in error messages, such as ``settings.``; empty for the monitor."""

    def refuse(self, name: str, problem: str) -> None:
        """Raise a ``ValueError`` that names a field and its problem."""
        raise ValueError(
            f"not a saved monitor: {self.path + name!r} {problem}; pass what Monitor.to_dict returned, or "
            "create a new Monitor from its baseline"
        )

    def require(self, name: str) -> None:
        if name not in self.data:
            self.refuse(name, "is missing")

    def check_names(self, *names: str) -> None:
        """Refuse fields that are missing or unknown."""
        for name in names:
            self.require(name)
        for name in self.data:
            if name not in names:
                self.refuse(str(name), "is unknown")

    def part(self, name: str) -> _Fields:
        """Return a part of the monitor, such as ``settings``; refuse a part that is not a mapping."""
        part = self.data[name]
        if not isinstance(part, Mapping):
            self.refuse(name, f"must be an object, got {reprlib.repr(part)}")
        return _Fields(part, f"{self.path}{name}.")

    def number(self, name: str, low: float = -math.inf, high: float = math.inf) -> None:
        """Refuse a field that is not a finite number from ``low`` to ``high``."""
        value = self.data[name]
        if _is_finite(value) and low <= value <= high:
            return
        kind = "a finite number" if low == -math.inf else f"a number of at least {low:g}"
        if high < math.inf:
            kind = f"a number from {low:g} to {high:g}"
        self.refuse(name, f"must be {kind}, got {reprlib.repr(value)}")

    def whole(self, name: str, low: int = 0, high: int | None = None) -> None:
        """Refuse a field that is not a whole number from ``low`` to ``high``."""
        value = self.data[name]
        if type(value) is int and low <= value and (high is None or value <= high):
            return
        kind = f"of at least {low}" if high is None else f"from {low} to {high}"
        self.refuse(name, f"must be a whole number {kind}, got {reprlib.repr(value)}")

    def choice(self, name: str, *allowed: str) -> None:
        """Refuse a field that is not one of the allowed texts."""
        value = self.data[name]
        if not isinstance(value, str) or value not in allowed:
            *others, last = map(repr, allowed)
            self.refuse(name, f"must be {', '.join(others)} or {last}, got {reprlib.repr(value)}")

    def bounds(self, name: str) -> None:
        """Refuse a field that is neither None nor two finite numbers in ascending order."""
        value = self.data[name]
        if value is None:
            return
        is_pair = isinstance(value, (list, tuple)) and len(value) == 2 and all(map(_is_finite, value))
        if not is_pair or not value[0] < value[1]:
            self.refuse(name, f"must be a lower and a higher number, got {reprlib.repr(value)}")


def _is_finite(value: object) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an int that is too large for a float
        return False

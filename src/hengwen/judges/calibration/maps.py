"""Calibration maps: functions from the judge's value to a human value, and whether they reduce the error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from hengwen.judges.calibration.estimates import (
    RESAMPLES,
    Estimate,
    bootstrap_estimate,
    cluster_index,
    resample_clusters,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


RIDGE = 0.01
"""Weight of a weak penalty that pulls the slope of the map to 0 and the distances between its thresholds to
1. The penalty keeps the parameters finite if a level has no labels, or if the judge separates the levels
perfectly."""
MIN_PROBABILITY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdinalMap:
    """Map from the judge's values to the probabilities of the human levels.

    P(human <= level k | judge) = logistic(threshold k - slope * position). The position is that of the
    judge's value in the list of levels: neighbouring levels are 1 apart, and the middle of the list is 0.
    """

    levels: tuple[float, ...]
    thresholds: tuple[float, ...]
    """Thresholds between the human levels, in ascending order."""
    slope: float
    """Change of the log odds of a higher human level if the judge's value is one level higher."""

    def probabilities(self, values: ArrayLike) -> Floats:
        """Return the probability of each human level for each judge's value, in shape (values, levels)."""
        positions = _positions(values, np.array(self.levels))
        return _probabilities(np.array(self.thresholds), self.slope, positions)

    def predict(self, values: ArrayLike) -> Floats:
        """Return the expected human value for each of the judge's values."""
        return np.asarray(self.probabilities(values) @ np.array(self.levels))

    @classmethod
    def fit(cls, judge: ArrayLike, human: ArrayLike, levels: Sequence[float]) -> OrdinalMap:
        """Fit the proportional odds model by penalised maximum likelihood; ``levels`` are ascending.

        A human value between two levels counts partly for each of them, and more for the nearer one.
        McCullagh, Regression models for ordinal data, JRSS B 42, 1980.

        Raises:
            ValueError: The lengths differ or are 0, or a value is not finite.

        Examples:
            >>> judge, human = [0, 0, 0.5, 0.5, 1, 1], [0, 0.5, 0.5, 0.5, 0.5, 1]
            >>> OrdinalMap.fit(judge, human, [0, 0.5, 1]).predict([0, 0.5, 1]).round(2)
            array([0.26, 0.5 , 0.74])
        """
        x, y = _paired(judge, human)
        scale = np.asarray(levels, dtype=float)
        positions, index = np.unique(_positions(x, scale), return_inverse=True)
        counts = np.zeros((len(positions), len(scale)))
        np.add.at(counts, index, _level_shares(y, scale))
        thresholds, slope = _fit(positions, counts)
        return cls(levels=tuple(map(float, scale)), thresholds=thresholds, slope=slope)


def _paired(judge: ArrayLike, human: ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(judge, dtype=float), np.asarray(human, dtype=float)
    if x.shape != y.shape or not len(x):
        raise ValueError(f"a map needs paired values, got {len(x)} and {len(y)}")
    if not np.isfinite([x, y]).all():
        raise ValueError("a map needs finite values; leave out answers without a value")
    return x, y


def _positions(values: ArrayLike, levels: Floats) -> Floats:
    """Return the positions of values in the list of levels, counted from the middle of the list."""
    indices = np.arange(len(levels)) - (len(levels) - 1) / 2
    return np.asarray(np.interp(np.asarray(values, dtype=float), levels, indices))


def _level_shares(values: Floats, levels: Floats) -> Floats:
    """Split each value between its two nearest levels; return shares of shape (values, levels)."""
    indices = np.arange(len(levels))
    positions = np.interp(values, levels, indices.astype(float))
    return np.asarray(np.clip(1 - np.abs(positions[:, None] - indices), 0, None))


def _cumulative(thresholds: Floats, slope: float, positions: Floats) -> Floats:
    """Return P(level <= k) for each position, in shape (positions, levels - 1)."""
    from scipy.special import expit

    return np.asarray(expit(thresholds - slope * positions[:, None]))


def _probabilities(thresholds: Floats, slope: float, positions: Floats) -> Floats:
    return np.diff(_cumulative(thresholds, slope, positions), axis=1, prepend=0.0, append=1.0)


def _fit(positions: Floats, counts: Floats) -> tuple[tuple[float, ...], float]:
    from scipy.optimize import minimize, root

    def unpack(parameters: Floats) -> tuple[Floats, float]:
        steps = np.exp(np.clip(parameters[1:-1], -20, 20))
        return np.cumsum([parameters[0], *steps]), float(parameters[-1])

    def loss(parameters: Floats) -> float:
        probabilities = _probabilities(*unpack(parameters), positions)
        fit = -(counts * np.log(np.maximum(probabilities, MIN_PROBABILITY))).sum()
        return float(fit + RIDGE * np.square(parameters[1:]).sum())

    def gradient(parameters: Floats) -> Floats:
        thresholds, slope = unpack(parameters)
        cumulative = _cumulative(thresholds, slope, positions)
        ratios = counts / np.maximum(_probabilities(thresholds, slope, positions), MIN_PROBABILITY)
        by_logit = np.diff(ratios, axis=1) * cumulative * (1 - cumulative)
        later_thresholds = np.cumsum(by_logit.sum(axis=0)[::-1])[::-1]  # a step moves all thresholds after it
        later_thresholds[1:] *= np.diff(thresholds)
        slopes = -(by_logit.sum(axis=1) @ positions)
        penalty = 2 * RIDGE * np.concatenate([[0.0], parameters[1:]])
        return np.asarray(np.append(later_thresholds, slopes) + penalty)

    start = np.zeros(counts.shape[1])
    start[0] = -(counts.shape[1] - 2) / 2
    near = minimize(loss, start, jac=gradient, method="BFGS").x
    # the loss is flat at its minimum, so that each machine would stop elsewhere; the gradient is not
    fitted = root(gradient, near, tol=1e-12).x
    fitted[0] = np.clip(fitted[0], -20, 20)  # there is no best value if all labels are at one end
    thresholds, slope = unpack(fitted)
    return tuple(map(float, thresholds)), slope


@dataclass(frozen=True, slots=True, kw_only=True)
class IsotonicMap:
    """Non-decreasing map from the judge's values to calibrated values.

    The map is linear between neighbouring fitted values, and constant below the lowest and above the highest.
    """

    judge: tuple[float, ...]
    """Distinct values of the judge, ascending."""
    calibrated: tuple[float, ...]
    """Calibrated value for each value of ``judge``."""

    def predict(self, values: ArrayLike) -> Floats:
        """Return the calibrated value of each of the judge's values."""
        return np.asarray(np.interp(np.asarray(values, dtype=float), self.judge, self.calibrated))

    @classmethod
    def fit(cls, judge: ArrayLike, human: ArrayLike) -> IsotonicMap:
        """Fit the map by least squares to the mean human value of each distinct value of the judge.

        Raises:
            ValueError: The lengths differ or are 0, or a value is not finite.

        Examples:
            >>> fitted = IsotonicMap.fit([1, 1, 2, 3], [0, 1, 0.25, 1])  # 1 and 2 pooled: (0 + 1 + 0.25) / 3
            >>> fitted.predict([1, 2, 2.5, 3]).round(3)
            array([0.417, 0.417, 0.708, 1.   ])
        """
        from scipy.optimize import isotonic_regression

        x, y = _paired(judge, human)
        values, index, counts = np.unique(x, return_inverse=True, return_counts=True)
        means = np.bincount(index, weights=y) / counts
        fitted = isotonic_regression(means, weights=counts.astype(float)).x
        return cls(judge=tuple(map(float, values)), calibrated=tuple(map(float, fitted)))


MIN_LABELS = 30
FOLDS = 5

MapKind = Literal["isotonic", "ordinal"]
KINDS: tuple[MapKind, ...] = ("isotonic", "ordinal")


@dataclass(frozen=True, slots=True, kw_only=True)
class MapReport:
    """A calibration map that was fitted on all labels, and its cross-validated error."""

    kind: MapKind
    n: int
    folds: int
    raw_error: float
    """Mean squared difference between the judge's and the human value."""
    error: float
    """Mean squared difference between the calibrated and the human value; the map for an answer is fitted on
    other prompts (cross-validation)."""
    gain: Estimate
    """``raw_error - error``: how much the map reduces the error; if it is below 0, the map makes the values
    worse."""
    levels: tuple[tuple[float, float], ...]
    """For each level, (judge's value, calibrated value)."""
    map: IsotonicMap | OrdinalMap

    @property
    def helps(self) -> bool | None:
        """Whether the map reduces the error, False if it increases it; None if that is not significant."""
        if self.gain.low is None or self.gain.high is None:
            return None
        return True if self.gain.low > 0 else False if self.gain.high < 0 else None


def fit_maps(
    judge: Sequence[float],
    human: Sequence[float],
    *,
    levels: Sequence[float],
    clusters: Sequence[str] | None = None,
    folds: int = FOLDS,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[MapReport, ...]:
    """Fit an isotonic and an ordinal calibration map, and measure their errors by cross-validation.

    All answers to a prompt are in the same fold.

    Args:
        judge: The judge's values, length n >= 30.
        human: Human value of each of these answers, in the same order.
        levels: All levels, ascending.
        clusters: Prompt of each answer; by default, each answer counts as a separate prompt.
        folds: Number of folds, from 2 to the number of prompts.
        resamples: Number of bootstrap resamples for the confidence interval of the gain. The gain is how much
            a map reduces the mean squared error of the judge's values.
        confidence: Confidence level of this interval.
        seed: Seed of the random numbers for the folds and for the bootstrap.

    Returns:
        Reports on the isotonic and the ordinal map, in this order.

    Raises:
        ValueError: There are fewer than 30 labels or fewer prompts than folds, the lengths differ, or a value
            is not finite.

    Examples:
        >>> human = [0, 0.5, 1] * 12  # 0.5 maps to 0.25 at best, an error of 2 / 3 * 0.25 ** 2 = 0.0417
        >>> judge = [0.5, 0.5, 1] * 12
        >>> for report in fit_maps(judge, human, levels=[0, 0.5, 1]):
        ...     print(report.kind, round(report.raw_error, 4), round(report.error, 4), report.helps)
        isotonic 0.0833 0.0437 True
        ordinal 0.0833 0.0438 True
        >>> fit_maps(judge[:12], human[:12], levels=[0, 0.5, 1])
        Traceback (most recent call last):
        ValueError: a calibration map needs at least 30 labels, got 12
    """
    x, y = _paired(judge, human)
    if len(x) < MIN_LABELS:
        raise ValueError(f"a calibration map needs at least {MIN_LABELS} labels, got {len(x)}")
    index, count = cluster_index(clusters or [str(i) for i in range(len(x))])
    if len(index) != len(x):
        raise ValueError(f"{len(x)} pairs but {len(index)} clusters")
    if not 2 <= folds <= count:
        raise ValueError(f"{folds} folds need at least as many prompts, got {count}; label more prompts")
    fold = _folds(count, folds, seed)[index]
    weights = resample_clusters(count, resamples, seed)
    scale = tuple(float(value) for value in levels)
    return tuple(_report(kind, x, y, scale, index, fold, weights, confidence) for kind in KINDS)


def fit_map(kind: MapKind, judge: Floats, human: Floats, levels: Sequence[float]) -> IsotonicMap | OrdinalMap:
    """Fit a calibration map of one kind (isotonic or ordinal) and return it."""
    return IsotonicMap.fit(judge, human) if kind == "isotonic" else OrdinalMap.fit(judge, human, levels)


def _folds(clusters: int, folds: int, seed: int) -> NDArray[np.intp]:
    """Return the cross-validation fold of each cluster; the sizes of folds differ by at most one cluster."""
    return np.random.default_rng(seed).permutation(np.arange(clusters) % folds)


def _report(
    kind: MapKind,
    judge: Floats,
    human: Floats,
    levels: tuple[float, ...],
    index: NDArray[np.intp],
    fold: NDArray[np.intp],
    weights: Floats,
    confidence: float,
) -> MapReport:
    predicted = np.empty_like(human)
    for number in np.unique(fold):
        held_out = fold == number
        fitted = fit_map(kind, judge[~held_out], human[~held_out], levels)
        predicted[held_out] = fitted.predict(judge[held_out])
    raw, calibrated = np.square(judge - human), np.square(predicted - human)
    gains = np.bincount(index, weights=raw - calibrated)
    sizes = np.bincount(index).astype(float)
    full_map = fit_map(kind, judge, human, levels)
    return MapReport(
        kind=kind,
        n=len(human),
        folds=len(np.unique(fold)),
        raw_error=float(raw.mean()),
        error=float(calibrated.mean()),
        gain=bootstrap_estimate(
            float((raw - calibrated).mean()),
            (weights @ gains) / (weights @ sizes),
            kind="unbounded",
            n=len(human),
            clusters=len(sizes),
            reason="",
            confidence=confidence,
        ),
        levels=tuple((value, float(full_map.predict([value])[0])) for value in levels),
        map=full_map,
    )

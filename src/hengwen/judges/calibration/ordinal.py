"""The ordinal map: a cumulative logit model of the human level given the judge's value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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
        return _probabilities(np.array(self.thresholds), self.slope, self._positions(values))

    def predict(self, values: ArrayLike) -> Floats:
        """Return the expected human value for each of the judge's values."""
        expected: Floats = self.probabilities(values) @ np.array(self.levels)
        return expected

    def _positions(self, values: ArrayLike) -> Floats:
        return _positions(values, np.array(self.levels))

    @classmethod
    def fit(cls, judge: ArrayLike, human: ArrayLike, levels: Sequence[float]) -> OrdinalMap:
        """Fit the map by penalised maximum likelihood.

        Args:
            judge: The judge's values, length n >= 1.
            human: Human values of the same answers. A value between two levels counts partly for each of
                these levels, and more for the nearer level.
            levels: All levels, ascending.

        Raises:
            ValueError: The lengths differ or are 0.

        Notes:
            The map is the proportional odds model of McCullagh, Regression models for ordinal data, JRSS B
            42, 1980.

        Examples:
            >>> judge, human = [0, 0, 0.5, 0.5, 1, 1], [0, 0.5, 0.5, 0.5, 0.5, 1]
            >>> OrdinalMap.fit(judge, human, [0, 0.5, 1]).predict([0, 0.5, 1]).round(2)
            array([0.26, 0.5 , 0.74])
        """
        x, y = np.asarray(judge, dtype=float), np.asarray(human, dtype=float)
        if x.shape != y.shape or not len(x):
            raise ValueError(f"a map needs paired values, got {len(x)} and {len(y)}")
        scale = np.asarray(levels, dtype=float)
        positions, index = np.unique(_positions(x, scale), return_inverse=True)
        counts = np.zeros((len(positions), len(scale)))
        np.add.at(counts, index, _level_shares(y, scale))
        thresholds, slope = _fit(positions, counts)
        return cls(levels=tuple(map(float, scale)), thresholds=thresholds, slope=slope)


def _positions(values: ArrayLike, levels: Floats) -> Floats:
    """Return the positions of values in the list of levels, counted from the middle of the list."""
    indices = np.arange(len(levels)) - (len(levels) - 1) / 2
    positions: Floats = np.interp(np.asarray(values, dtype=float), levels, indices)
    return positions


def _level_shares(values: Floats, levels: Floats) -> Floats:
    """Split each value between its two nearest levels; return shares of shape (values, levels)."""
    indices = np.arange(len(levels))
    positions = np.interp(values, levels, indices.astype(float))
    shares: Floats = np.clip(1 - np.abs(positions[:, None] - indices), 0, None)
    return shares


def _probabilities(thresholds: Floats, slope: float, positions: Floats) -> Floats:
    # This is the logistic function. scipy.special.expit differs in the last bit, so the optimiser (BFGS)
    # would stop at another point, and calibration maps would change by up to 5e-7.
    cumulative = 0.5 * (1 + np.tanh((thresholds - slope * positions[:, None]) / 2))
    return np.diff(cumulative, axis=1, prepend=0.0, append=1.0)


def _fit(positions: Floats, counts: Floats) -> tuple[tuple[float, ...], float]:
    from scipy.optimize import minimize

    def unpack(parameters: Floats) -> tuple[Floats, float]:
        steps = np.exp(np.clip(parameters[1:-1], -20, 20))
        return np.cumsum(np.concatenate([parameters[:1], steps])), float(parameters[-1])

    def loss(parameters: Floats) -> float:
        probabilities = _probabilities(*unpack(parameters), positions)
        fit = -(counts * np.log(np.maximum(probabilities, MIN_PROBABILITY))).sum()
        return float(fit + RIDGE * np.square(parameters[1:]).sum())

    start = np.zeros(counts.shape[1])
    start[0] = -(counts.shape[1] - 2) / 2
    thresholds, slope = unpack(minimize(loss, start, method="BFGS").x)
    return tuple(map(float, thresholds)), slope

"""The isotonic map: a non-decreasing function of the judge's values that fits the human values best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class IsotonicMap:
    """Non-decreasing map from the judge's values to calibrated values.

    The map is linear between neighbouring fitted values, and constant below the lowest and above the highest.
    """

    judge: tuple[float, ...]
    """Distinct values of the judge, ascending."""
    calibrated: tuple[float, ...]
    """Calibrated value for each value of ``judge``."""

    def predict(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return the calibrated value of each of the judge's values."""
        calibrated: NDArray[np.float64] = np.interp(
            np.asarray(values, dtype=float), self.judge, self.calibrated
        )
        return calibrated

    @classmethod
    def fit(cls, judge: ArrayLike, human: ArrayLike) -> IsotonicMap:
        """Fit the map by least squares (pool adjacent violators algorithm).

        Args:
            judge: The judge's values, length n >= 1.
            human: Human values of the same answers.

        Raises:
            ValueError: The lengths differ or are 0.

        Notes:
            For each distinct value of the judge, the mean human value is computed; then
            ``scipy.optimize.isotonic_regression`` is applied to these means.

        Examples:
            >>> fitted = IsotonicMap.fit([1, 1, 2, 3], [0, 1, 0.25, 1])  # 1 and 2 pooled: (0 + 1 + 0.25) / 3
            >>> fitted.predict([1, 2, 2.5, 3]).round(3)
            array([0.417, 0.417, 0.708, 1.   ])
        """
        from scipy.optimize import isotonic_regression

        x, y = np.asarray(judge, dtype=float), np.asarray(human, dtype=float)
        if x.shape != y.shape or not len(x):
            raise ValueError(f"a map needs paired values, got {len(x)} and {len(y)}")
        values, index, counts = np.unique(x, return_inverse=True, return_counts=True)
        means = np.bincount(index, weights=y) / counts
        fitted = isotonic_regression(means, weights=counts.astype(float)).x
        return cls(judge=tuple(map(float, values)), calibrated=tuple(map(float, fitted)))

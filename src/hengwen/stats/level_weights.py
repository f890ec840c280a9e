"""Weights of values: by the levels of another set of values, or by precision (1 / variance)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

BINS = 5
"""Number of equal parts into which a scale without levels is divided; the parts serve as its levels."""


def level_weights(units: Sequence[int], target: Sequence[int]) -> tuple[float, ...] | None:
    """Return weights (mean 1) with which each level has the same share among units as in a target."""
    counts, target_counts = Counter(units), Counter(target)
    covered = sum(count for level, count in target_counts.items() if level in counts)
    if not covered:
        return None
    return tuple(target_counts[level] / covered * len(units) / counts[level] for level in units)


def level_index(value: float, low: float, high: float, levels: Sequence[float] | None) -> int:
    """Return the index of the level nearest to a value."""
    if levels is not None:
        return min(range(len(levels)), key=lambda index: abs(levels[index] - value))
    return min(BINS - 1, max(0, int((value - low) / (high - low) * BINS)))


def precision_weights(
    differences: ArrayLike, repeats: ArrayLike, repeat_variance: float
) -> NDArray[np.float64]:
    """Return the weight 1 / (tau^2 + 2 sigma^2 / R) of each prompt, scaled to a mean weight of 1."""
    values, noise = np.asarray(differences, np.float64), 2 * repeat_variance / np.asarray(repeats, np.float64)
    between = float(values.var(ddof=1)) - float(noise.mean()) if len(values) > 1 else 0.0
    variance = max(0.0, between) + noise
    if not (variance > 0).all():
        return np.ones(len(values))
    weights = 1 / variance
    return np.asarray(weights / weights.mean(), np.float64)

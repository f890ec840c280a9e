"""Weight each prompt by the precision (1 / variance) of its score difference between two checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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

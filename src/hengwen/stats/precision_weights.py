"""Weight each prompt by the precision (1 / variance) of its score difference between two checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def precision_weights(
    differences: ArrayLike, repeats: ArrayLike, repeat_variance: float
) -> NDArray[np.float64]:
    """Return the weight 1 / (tau^2 + 2 sigma^2 / R) of each prompt, scaled to a mean weight of 1.

    tau^2 is the variance of the true score differences over prompts, estimated by the method of moments.
    sigma^2 is the variance of the scores of a prompt's repeats at one checkpoint. R is the number of repeats
    (answers to the prompt) at each checkpoint. A prompt with many repeats counts more than a prompt with one
    answer, so the weighted mean does not estimate the same quantity as the mean with equal weights.

    Args:
        differences: Later minus earlier value of each prompt, shape (n,), n >= 1.
        repeats: Number of repeats of each prompt.
        repeat_variance: The variance sigma^2, pooled over prompts and checkpoints.

    Returns:
        The weights, shape (n,); all weights are 1 if tau^2 and sigma^2 are 0.

    Examples:
        >>> weights = precision_weights([0.0, 0.5, -0.5, 1.0], [1, 1, 10, 10], 0.2)
        >>> weights.round(2).tolist()
        [0.57, 0.57, 1.43, 1.43]
    """
    values, noise = np.asarray(differences, np.float64), 2 * repeat_variance / np.asarray(repeats, np.float64)
    between = float(values.var(ddof=1)) - float(noise.mean()) if len(values) > 1 else 0.0
    variance = max(0.0, between) + noise
    if not (variance > 0).all():
        return np.ones(len(values))
    weights = 1 / variance
    return np.asarray(weights / weights.mean(), np.float64)

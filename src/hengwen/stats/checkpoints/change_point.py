"""Pettitt's test: is there a checkpoint after which the values lie higher or lower than before?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MIN_CHECKPOINTS = 8
"""Minimum number of checkpoints; with 6 or 7 checkpoints, no order of the values has a p-value below .10."""
MAX_ORDERS = 40_320
"""Number of orders of 8 checkpoints (8!), which are all evaluated. For more checkpoints, ``RESAMPLES`` random
orders are drawn."""
RESAMPLES = 9999


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """The most likely change point of a sequence, and its p-value."""

    index: int
    """Index of the first value after the change."""
    statistic: float
    """Largest absolute value of Pettitt's rank statistic U over all positions of the change."""
    p: float
    """Share of the orders of the values that have a statistic at least as large as the observed statistic."""
    checkpoints: int


def pettitt_test(values: ArrayLike) -> ChangePoint | None:
    """Test whether the values of a sequence become higher or lower at one unknown position."""
    from scipy.stats import permutation_test, rankdata

    ranks = rankdata(np.asarray(values, np.float64))
    n = len(ranks)
    if n < MIN_CHECKPOINTS or np.ptp(ranks) == 0:
        return None
    sizes = np.abs(_statistics(ranks))
    result = permutation_test(
        (ranks,),
        lambda orders, axis: np.abs(_statistics(np.moveaxis(orders, axis, -1))).max(axis=-1),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=MAX_ORDERS if n == MIN_CHECKPOINTS else RESAMPLES,
        batch=max(1, 2_000_000 // n),
        alternative="greater",
        rng=np.random.default_rng(0),
    )
    return ChangePoint(
        index=int(sizes.argmax()) + 1,
        statistic=float(sizes.max()),
        p=float(result.pvalue),
        checkpoints=n,
    )


def _statistics(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Pettitt's U after each value except the last: 2 * (sum of the first t ranks) - t (n + 1)."""
    n = ranks.shape[-1]
    sums = np.cumsum(ranks, axis=-1)[..., :-1]
    return np.asarray(2 * sums - np.arange(1, n) * (n + 1), np.float64)

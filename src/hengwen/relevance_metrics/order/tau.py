"""Kendall's tau-b of scores against their order, from inversions, and its interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.relevance_metrics.core.pair_counts import count_sides
from hengwen.relevance_metrics.order.inversions import batch_inversions, tied_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST = 10


def tau_b(row: NDArray[Any]) -> float | None:
    """Return tau-b against time, from -1 (always falls) to 1; None where all scores are equal.

    Examples:
        >>> tau_b(np.array([1, 2, 3])), tau_b(np.array([1, 1]))
        (1.0, None)
    """
    pairs = len(row) * (len(row) - 1) // 2
    untied = pairs - tied_pairs(row)
    return float(tau_rows(row[None])[0]) if untied else None


def tau_rows(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return tau-b against time for each row; 0, neither rise nor fall, where all scores are equal.

    Examples:
        >>> tau_rows(np.array([[3, 2, 1], [1, 1, 1]])).tolist()
        [-1.0, 0.0]
    """
    n = rows.shape[1]
    pairs = n * (n - 1) // 2
    untied = pairs - np.array([tied_pairs(row) for row in rows])
    rises_less_falls = untied - 2 * batch_inversions(rows)
    scale = np.sqrt(float(pairs) * np.maximum(untied, 1))
    return np.asarray(np.clip(rises_less_falls / scale, -1.0, 1.0))


def u_statistic_interval(row: NDArray[Any], level: float) -> tuple[float, float, float]:
    """Return low, tau-b and high, on Fisher's z scale; scores must not depend on their neighbours.

    The spread is the jackknife one of a U-statistic, which is too wide rather than too narrow on a trend.

    Raises:
        ValueError: Fewer than ten scores, or no spread to measure.

    Examples:
        >>> low, tau, high = u_statistic_interval(np.array([1, 3, 2, 4, 6, 5, 7, 9, 8, 10]), 0.95)
        >>> round(low, 2), round(tau, 2), round(high, 2)
        (0.51, 0.87, 0.97)
    """
    n = len(row)
    if n < _LEAST:
        raise ValueError(f"a tau interval needs at least {_LEAST} scores, got {n}; use significance")
    tau = tau_b(row)
    if tau is None:
        raise ValueError("all scores are equal, so tau is not defined; look at the level instead")
    sides = count_sides(row)
    rises = sides.less_before + sides.greater_after - sides.greater_before - sides.less_after
    parts = rises / (n - 1)
    variance = 4 * (n - 1) / (n * (n - 2) ** 2) * float(((parts - parts.mean()) ** 2).sum())
    untied_scale = math.sqrt(n * (n - 1) / 2 / (n * (n - 1) / 2 - tied_pairs(row)))
    spread = math.sqrt(variance) * untied_scale
    if spread < 1e-12 or abs(tau) > 1 - 1e-12:
        raise ValueError(
            f"tau is {tau:.3g} without any spread, so one sequence gives no interval; use prompts"
        )
    return _on_z_scale(tau, spread, n - 2, level)


def _on_z_scale(tau: float, spread: float, freedom: int, level: float) -> tuple[float, float, float]:
    from scipy.special import stdtrit

    reach = float(stdtrit(freedom, (1 + level) / 2)) * spread / (1 - tau**2)
    return math.tanh(math.atanh(tau) - reach), tau, math.tanh(math.atanh(tau) + reach)

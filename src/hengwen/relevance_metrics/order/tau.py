"""Compute Kendall's tau-b (rank correlation) of scores with time, and its confidence interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.relevance_metrics.order.inversions import batch_inversions, count_pairs, tied_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MIN_SCORES = 10


def tau_b(row: NDArray[Any]) -> float | None:
    """Return tau-b of scores with time: -1 if they always fall, 1 if they rise; None if all are equal."""
    pairs = len(row) * (len(row) - 1) // 2
    untied = pairs - tied_pairs(row)
    return float(tau_rows(row[None])[0]) if untied else None


def tau_rows(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return tau-b of scores with time for each row; 0 if all scores of the row are equal."""
    n = rows.shape[1]
    pairs = n * (n - 1) // 2
    untied = pairs - np.array([tied_pairs(row) for row in rows])
    rises_minus_falls = untied - 2 * batch_inversions(rows)
    scale = np.sqrt(float(pairs) * np.maximum(untied, 1))
    return np.asarray(np.clip(rises_minus_falls / scale, -1.0, 1.0))


def u_statistic_interval(row: NDArray[Any], confidence: float) -> tuple[float, float, float]:
    """Return tau-b with its interval, (low, tau-b, high); scores must not depend on their neighbours."""
    n = len(row)
    if n < _MIN_SCORES:
        raise ValueError(f"a tau interval needs at least {_MIN_SCORES} scores, got {n}; use significance")
    tau = tau_b(row)
    if tau is None:
        raise ValueError("all scores are equal, so tau is not defined; look at the level instead")
    counts = count_pairs(row)
    rises = counts.less_before + counts.greater_after - counts.greater_before - counts.less_after
    parts = rises / (n - 1)
    variance = 4 * (n - 1) / (n * (n - 2) ** 2) * float(((parts - parts.mean()) ** 2).sum())
    tie_correction = math.sqrt(n * (n - 1) / 2 / (n * (n - 1) / 2 - tied_pairs(row)))
    standard_error = math.sqrt(variance) * tie_correction
    if standard_error < 1e-12 or abs(tau) > 1 - 1e-12:
        raise ValueError(f"tau is {tau:.3g} with no variance, so one sequence gives no interval; use prompts")
    return _on_z_scale(tau, standard_error, n - 2, confidence)


def _on_z_scale(
    tau: float, standard_error: float, freedom: int, confidence: float
) -> tuple[float, float, float]:
    from scipy.special import stdtrit

    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * standard_error / (1 - tau**2)
    return math.tanh(math.atanh(tau) - reach), tau, math.tanh(math.atanh(tau) + reach)

"""Estimate the true change of each prompt's value: noisy changes are shrunk towards the mean change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrunkenChanges:
    """Estimates of the true change of each prompt's value between two checkpoints."""

    changes: tuple[float, ...]
    """Estimated true change of each prompt:
    mean change of all prompts + tau^2 / (tau^2 + noise) * (measured change - mean change of all prompts).

    Here, tau^2 is ``true_variance``, and noise is the variance of the prompt's measured change that comes
    from repeats."""
    true_variance: float
    """Variance tau^2 of the true changes from prompt to prompt, at least 0."""


def shrink_changes(changes: ArrayLike, noise: ArrayLike) -> ShrunkenChanges:
    """Return empirical-Bayes estimates of the true change of each prompt's value between two checkpoints."""
    values, variances = np.asarray(changes, np.float64), np.asarray(noise, np.float64)
    between = float(values.var(ddof=1)) - float(variances.mean()) if len(values) > 1 else 0.0
    variance = max(0.0, between)
    totals = variance + variances
    shares = np.divide(variance, totals, out=np.zeros(len(values)), where=totals > 0)
    estimates = values.mean() + shares * (values - values.mean())
    return ShrunkenChanges(changes=tuple(estimates.tolist()), true_variance=variance)

"""Maximise many concave (or nearly concave) likelihoods at once by Newton's method with step halving."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_HALVINGS = 12
"""Maximum number of times that a step is halved because it lowers the likelihood."""
MAX_STEP = 2.0
"""Largest change of a parameter in one step; where logistic curves are flat, Newton steps are too long."""
TOLERANCE = 1e-10
"""The search ends after a step in which no parameter changes by more than this."""


class Derivatives(NamedTuple):
    """Derivatives of K log-likelihoods with p parameters each."""

    gradient: NDArray[np.float64]
    """Shape (K, p)."""
    information: NDArray[np.float64]
    """Negative second derivatives or their expected values, positive definite, shape (K, p, p)."""


class Likelihood(Protocol):
    """K penalised log-likelihoods that ``maximise`` maximises at the same time."""

    def value(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-likelihoods, shape (K,), at parameters of shape (K, p)."""
        ...

    def derivatives(self, parameters: NDArray[np.float64]) -> Derivatives:
        """Return the derivatives at parameters of shape (K, p)."""
        ...


def maximise(
    likelihood: Likelihood, start: NDArray[np.float64], *, max_steps: int = 100, tolerance: float = TOLERANCE
) -> NDArray[np.float64]:
    """Return the parameters that maximise K log-likelihoods, shape (K, p)."""
    parameters = start.copy()
    values = likelihood.value(parameters)
    for _ in range(max_steps):
        gradient, information = likelihood.derivatives(parameters)
        step: NDArray[Any] = np.linalg.solve(information, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=1, initial=0.0)
        step *= (MAX_STEP / np.maximum(longest, MAX_STEP))[:, None]
        if longest.max(initial=0.0) <= tolerance:
            return np.asarray(parameters + step)
        parameters, values = _climb(likelihood, parameters, values, step)
    return parameters


def _climb(
    likelihood: Likelihood,
    parameters: NDArray[np.float64],
    values: NDArray[np.float64],
    step: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return new parameters and their values; steps that lower a likelihood are halved."""
    for _ in range(MAX_HALVINGS):
        candidate = parameters + step
        new = likelihood.value(candidate)
        worse = new < values - 1e-9 * (1 + np.abs(values))
        if not worse.any():
            return candidate, new
        step = np.where(worse[:, None], step / 2, step)
    keep = worse[:, None]
    return np.where(keep, parameters, candidate), np.where(worse, values, new)

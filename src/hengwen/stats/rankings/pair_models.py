"""Strengths of items from pairs: Bradley-Terry models."""

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


class Pairs:
    """The pairs of items that were compared, each pair once."""

    def __init__(self, first: NDArray[np.intp], second: NDArray[np.intp], groups: NDArray[np.intp]) -> None:
        self.first, self.second, self.groups = first, second, groups
        items, pairs = len(groups), len(first)
        self.incidence = np.zeros((pairs, items))
        self.incidence[np.arange(pairs), first] = 1.0
        self.incidence[np.arange(pairs), second] = -1.0
        members = groups == np.arange(int(groups.max(initial=0)) + 1)[:, None]
        self.centring = (members.T.astype(float) @ members) / np.maximum(members.sum(axis=1), 1)[groups]
        """Matrix that replaces each strength by the mean strength of its group, shape (m, m)."""

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.groups)

    def laplacian(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one matrix for each row w of the weights: ``incidence.T @ diag(w) @ incidence``."""
        matrix = np.zeros((len(weights), self.items, self.items))
        matrix[:, self.first, self.second] = -weights
        matrix[:, self.second, self.first] = -weights
        diagonal = np.arange(self.items)
        matrix[:, diagonal, diagonal] = weights @ np.abs(self.incidence)
        return matrix


class BradleyTerry:
    """Penalised log-likelihoods of K Bradley-Terry models."""

    def __init__(
        self,
        pairs: Pairs,
        wins: NDArray[np.float64],
        battles: NDArray[np.float64],
        ridge: NDArray[np.float64],
    ) -> None:
        self.pairs, self.wins, self.battles, self.ridge = pairs, wins, battles, ridge

    def value(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-likelihoods, shape (K,)."""
        gap = parameters @ self.pairs.incidence.T
        likelihood = (self.wins * gap - self.battles * np.logaddexp(0.0, gap)).sum(axis=1)
        return np.asarray(likelihood - self.ridge / 2 * (parameters**2).sum(axis=1))

    def derivatives(self, parameters: NDArray[np.float64]) -> Derivatives:
        """Return the gradients and the information matrices (negative second derivatives) of the K models."""
        from scipy.special import expit

        chance = expit(parameters @ self.pairs.incidence.T)
        spread = self.battles * chance * (1 - chance)
        gradient = (self.wins - self.battles * chance) @ self.pairs.incidence
        information = self.pairs.laplacian(spread)
        information += self.ridge[:, None, None] * np.eye(self.pairs.items)
        scale = 1.0 + np.einsum("kii->k", information) / self.pairs.items
        return Derivatives(
            gradient - self.ridge[:, None] * parameters,
            information + scale[:, None, None] * self.pairs.centring,
        )


def fit_bradley_terry(
    pairs: Pairs,
    wins: NDArray[np.float64],
    battles: NDArray[np.float64],
    *,
    ridge: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the strengths of the items in K sets of counts, in logits, shape (K, m)."""
    sets = len(wins)
    precision = np.zeros(sets) if ridge is None else ridge
    return maximise(BradleyTerry(pairs, wins, battles, precision), np.zeros((sets, pairs.items)))

"""Fit Bradley-Terry models to counts of wins, for many sets of counts at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.rankings.newton import Derivatives, maximise

if TYPE_CHECKING:
    from numpy.typing import NDArray


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

"""Fit Bradley-Terry models to counts of wins, for many sets of counts at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.rankings.newton import Derivatives, maximise

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Pairs:
    """The pairs of items that were compared, each pair once.

    Args:
        first: Index of the first item of each pair, shape (P,).
        second: Index of the second item of each pair, shape (P,).
        groups: Group of each item, shape (m,), from 0; items of different groups were never compared. The
            strengths of each group have the mean 0.
    """

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
        """Return one matrix for each row w of the weights: ``incidence.T @ diag(w) @ incidence``.

        The matrix ``incidence`` has a row for each pair: 1 at the first item, -1 at the second item, else 0.

        Args:
            weights: Shape (K, P).

        Returns:
            Shape (K, m, m).
        """
        matrix = np.zeros((len(weights), self.items, self.items))
        matrix[:, self.first, self.second] = -weights
        matrix[:, self.second, self.first] = -weights
        diagonal = np.arange(self.items)
        matrix[:, diagonal, diagonal] = weights @ np.abs(self.incidence)
        return matrix


class BradleyTerry:
    """Penalised log-likelihoods of K Bradley-Terry models.

    Args:
        pairs: The compared pairs.
        wins: Wins of the first item of each pair, ties count half, shape (K, P).
        battles: Number of battles of each pair, shape (K, P).
        ridge: Precision of a normal prior of the strengths around 0, shape (K,); 0 for none.
    """

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
        """Return the gradients and the information matrices (negative second derivatives) of the K models.

        A term of each matrix keeps the mean strength of each group (items that comparisons link) at 0.
        """
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
    """Return the strengths of the items in K sets of counts, in logits, shape (K, m).

    The probability that item i beats item k is 1 / (1 + exp(strength of k - strength of i)).

    Args:
        pairs: The compared pairs.
        wins: Wins of the first item of each pair, ties count half, shape (K, P).
        battles: Number of battles of each pair, shape (K, P).
        ridge: Precision of a normal prior of the strengths around 0, shape (K,); default: no prior. Without a
            prior, the strengths are finite only if chains of wins or ties lead from each item to every other
            item of its group (items that comparisons link).

    Notes:
        Bradley and Terry (1952), Biometrika 39, 324.

    Examples:
        >>> pairs = Pairs(np.array([0]), np.array([1]), np.zeros(2, int))
        >>> strengths = fit_bradley_terry(pairs, np.array([[3.0]]), np.array([[4.0]]))
        >>> strengths.round(4).tolist()  # the difference is log 3
        [[0.5493, -0.5493]]
    """
    sets = len(wins)
    precision = np.zeros(sets) if ridge is None else ridge
    return maximise(BradleyTerry(pairs, wins, battles, precision), np.zeros((sets, pairs.items)))

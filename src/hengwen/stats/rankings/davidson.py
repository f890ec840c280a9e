"""Fit Bradley-Terry models with ties (Davidson), for many sets of counts at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.rankings.bradley_terry import Derivatives, maximise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hengwen.stats.rankings.bradley_terry import Pairs

TIE_RIDGE = 1e-3
"""Precision of the normal prior of the log of the tie parameter around 0. Without a prior, this log would be
infinite if there are no ties, or only ties."""


class Davidson:
    """Penalised log-likelihoods of K Davidson models; the last parameter is the log of the tie parameter."""

    def __init__(
        self,
        pairs: Pairs,
        wins: NDArray[np.float64],
        ties: NDArray[np.float64],
        battles: NDArray[np.float64],
        ridge: NDArray[np.float64],
    ) -> None:
        self.pairs, self.ties, self.battles, self.ridge = pairs, ties, battles, ridge
        self.balance = wins - (battles - wins - ties)
        self.all_ties = ties.sum(axis=1)

    def value(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-likelihoods, shape (K,)."""
        strengths, log_tie = parameters[:, :-1], parameters[:, -1]
        half = strengths @ self.pairs.incidence.T / 2
        total = np.logaddexp(np.logaddexp(half, -half), log_tie[:, None])
        likelihood = (self.balance * half - self.battles * total).sum(axis=1) + self.all_ties * log_tie
        penalty = self.ridge * (strengths**2).sum(axis=1) + TIE_RIDGE * log_tie**2
        return np.asarray(likelihood - penalty / 2)

    def derivatives(self, parameters: NDArray[np.float64]) -> Derivatives:
        """Return the gradients and the information matrices (negative second derivatives) of the K models."""
        strengths, log_tie = parameters[:, :-1], parameters[:, -1]
        difference, tie = _chances(strengths @ self.pairs.incidence.T, log_tie)
        sets, items = strengths.shape
        gradient = np.empty((sets, items + 1))
        gradient[:, :-1] = (self.balance - self.battles * difference) @ self.pairs.incidence / 2
        gradient[:, :-1] -= self.ridge[:, None] * strengths
        gradient[:, -1] = self.all_ties - (self.battles * tie).sum(axis=1) - TIE_RIDGE * log_tie
        information = np.empty((sets, items + 1, items + 1))
        curvature = self.battles * ((1 - tie) - difference**2) / 4
        block = self.pairs.laplacian(curvature) + self.ridge[:, None, None] * np.eye(items)
        scale = 1.0 + np.einsum("kii->k", block) / items
        information[:, :-1, :-1] = block + scale[:, None, None] * self.pairs.centring
        cross = -(self.battles * difference * tie) @ self.pairs.incidence / 2
        information[:, :-1, -1] = information[:, -1, :-1] = cross
        information[:, -1, -1] = (self.battles * tie * (1 - tie)).sum(axis=1) + TIE_RIDGE
        return Derivatives(gradient, information)


def _chances(
    gap: NDArray[np.float64], log_tie: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P(first wins) - P(second wins), and P(tie), of each pair."""
    half = gap / 2
    top = np.maximum(np.abs(half), log_tie[:, None])
    first, second, tie = np.exp(half - top), np.exp(-half - top), np.exp(log_tie[:, None] - top)
    total = first + second + tie
    return (first - second) / total, tie / total


def fit_davidson(
    pairs: Pairs,
    wins: NDArray[np.float64],
    ties: NDArray[np.float64],
    battles: NDArray[np.float64],
    *,
    ridge: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the strengths of the items in K sets of counts, and the log of the tie parameter, (K, m + 1)."""
    sets = len(wins)
    first = np.zeros((sets, pairs.items + 1))
    precision = np.zeros(sets) if ridge is None else ridge
    return maximise(Davidson(pairs, wins, ties, battles, precision), first)

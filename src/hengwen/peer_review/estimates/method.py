"""What every method of estimation offers: scores, their standard errors, and scores in resampled data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RankingMethod = Literal["judge-bt", "bradley-terry", "consistency", "uniform"]


WEAK_PRIOR = 1 / 9
"""Precision of the normal prior (standard deviation 3 logits) that keeps strengths finite if a model wins or
loses all its battles."""


class FittedMethod(Protocol):
    """Scores of the models by one method."""

    @property
    def scores(self) -> NDArray[np.float64]:
        """Score of each model, higher is better, shape (m,)."""
        ...

    @property
    def errors(self) -> NDArray[np.float64] | None:
        """Standard errors that allow dependence within a question (sandwich); None if the method has none."""
        ...

    def resample(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of the m models in each of B resamples of the questions, shape (B, m).

        Args:
            weights: Number of times that each question was drawn, shape (B, Q).
        """
        ...


def drawn_questions(questions: int, resamples: int, seed: int) -> NDArray[np.float64]:
    """Return how often each question is drawn in each resample, shape (B, Q)."""
    shares = np.full(questions, 1 / questions)
    return np.random.default_rng(seed).multinomial(questions, shares, size=resamples).astype(float)


def cluster_covariance(slopes: NDArray[np.float64], information: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sandwich covariance, shape (p, p), from gradients of clusters."""
    spread = np.linalg.solve(information, slopes.T)
    used = int(np.any(slopes != 0, axis=1).sum())
    if used < 2:
        return np.full(information.shape, np.nan)
    return np.asarray(spread @ spread.T * (used / (used - 1)))

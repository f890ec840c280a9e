"""Bradley-Terry strengths from counts of wins; a tie is half a win, or has a parameter (Davidson)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hengwen.peer_review.estimates.estimate import cluster_covariance
from hengwen.peer_review.estimates.pair_counts import pair_counts, prior_where_needed
from hengwen.stats.rankings.bradley_terry import BradleyTerry, fit_bradley_terry
from hengwen.stats.rankings.codes import group_sums
from hengwen.stats.rankings.davidson import Davidson, fit_davidson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hengwen.peer_review.battles.matches import Matches


class PairModel:
    """Strengths of a Bradley-Terry model, in logits."""

    def __init__(self, matches: Matches, models: int, questions: int, *, ties: bool = False) -> None:
        self._ties, self._questions, self._matches = ties, questions, matches
        self.counts = pair_counts(matches, models, questions)
        self._ones = np.ones(len(matches))
        self._wins = (matches.outcome == 1).astype(float)
        self._tied = (matches.outcome == 0.5).astype(float)

    @cached_property
    def prior(self) -> NDArray[np.float64]:
        """Precision of the prior of the strengths, shape (1,); 0 if strengths are finite without a prior."""
        return prior_where_needed(
            self.counts.pairs,
            self.counts.total(self._matches.outcome),
            self.counts.total(self._ones),
        )

    @cached_property
    def parameters(self) -> NDArray[np.float64]:
        """Strengths of the models, and in Davidson's model the logarithm of the tie parameter."""
        outcomes, tied, battles = map(self.counts.total, (self._matches.outcome, self._tied, self._ones))
        return np.asarray(self._fit(outcomes, tied if self._ties else None, battles, ridge=self.prior)[0])

    @property
    def scores(self) -> NDArray[np.float64]:
        """Strength of each model, shape (m,)."""
        return self.parameters[: self.counts.pairs.items]

    @property
    def errors(self) -> NDArray[np.float64]:
        """Sandwich standard errors with questions as clusters, shape (m,)."""
        pairs, matches = self.counts.pairs, self._matches
        wins, tied, battles = map(self.counts.total, (self._wins, self._tied, self._ones))
        parameters = self.parameters[None]
        gap = self.scores[pairs.first] - self.scores[pairs.second]
        if self._ties:
            likelihood: Davidson | BradleyTerry = Davidson(pairs, wins, tied, battles, self.prior)
            half, top = gap / 2, self.parameters[-1]
            total = np.exp(half) + np.exp(-half) + np.exp(top)
            expected = (np.exp(half) - np.exp(-half)) / total
            residual = ((self._wins * 2 + self._tied - 1) - expected[self.counts.pair]) / 2
            tie_residual = self._tied - (np.exp(top) / total)[self.counts.pair]
        else:
            likelihood = BradleyTerry(pairs, wins + tied / 2, battles, self.prior)
            residual = matches.outcome - (1 / (1 + np.exp(-gap)))[self.counts.pair]
        cells = self._questions * pairs.items
        slopes = group_sums(matches.question * pairs.items + matches.low, residual, cells)
        slopes -= group_sums(matches.question * pairs.items + matches.high, residual, cells)
        slopes = slopes.reshape(self._questions, pairs.items)
        if self._ties:
            by_question = group_sums(matches.question, tie_residual, self._questions)
            slopes = np.column_stack([slopes, by_question])
        information = likelihood.derivatives(parameters).information[0]
        return np.sqrt(np.diag(cluster_covariance(slopes, information))[: pairs.items])

    def resample(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the strengths of the m models in each of B resamples of the questions, shape (B, m)."""
        battles = self.counts.resampled(self._ones, weights)
        outcomes = self.counts.resampled(self._matches.outcome, weights)
        ridge = np.maximum(prior_where_needed(self.counts.pairs, outcomes, battles), self.prior)
        tied = self.counts.resampled(self._tied, weights) if self._ties else None
        return self._fit(outcomes, tied, battles, ridge=ridge)[:, : self.counts.pairs.items]

    def without_judge(self, judge: int) -> NDArray[np.float64]:
        """Return the strengths without the verdicts of a judge, shape (m,)."""
        matches = self._matches
        kept = matches.only(matches.judge != judge)
        return PairModel(kept, self.counts.pairs.items, self._questions, ties=self._ties).scores

    def _fit(
        self,
        outcomes: NDArray[np.float64],
        tied: NDArray[np.float64] | None,
        battles: NDArray[np.float64],
        ridge: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        if tied is None:
            return fit_bradley_terry(self.counts.pairs, outcomes, battles, ridge=ridge)
        return fit_davidson(self.counts.pairs, outcomes - tied / 2, tied, battles, ridge=ridge)

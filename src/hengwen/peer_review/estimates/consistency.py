"""Votes weighted by the optimisation of PiCO (arXiv 2402.01830), in which the models are the judges."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hengwen.peer_review.estimates.votes import VoteCounts, Votes, add_up
from hengwen.stats.rankings.codes import distinct_codes, group_sums
from hengwen.stats.rankings.consistency import (
    RANK_SCALE,
    RESTARTS,
    ConsistencySearch,
    JudgedCounts,
    consistency_searches,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hengwen.peer_review.verdicts import Matches


class ConsistencyVotes:
    """Mean points of each model; the points that a judge gives are multiplied by its weight."""

    def __init__(
        self,
        matches: Matches,
        judge_models: NDArray[np.intp],
        models: int,
        questions: int,
        seed: int,
    ) -> None:
        self._matches, self._judge_models = matches, judge_models
        self._models, self._questions, self._seed = models, questions, seed

    @cached_property
    def searches(self) -> list[ConsistencySearch]:
        """Searches for the weights, each from a different random start; the first one gives the result."""
        return consistency_searches(self._counts(self._matches), self._seed, RESTARTS)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Score of each model, shape (m,)."""
        return self.searches[0].scores

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weight of each judge, in (0, 1), shape (J,)."""
        return self.searches[0].weights[self._judge_models]

    @cached_property
    def _votes(self) -> Votes:
        return Votes(self._matches, self._points)

    @property
    def errors(self) -> NDArray[np.float64]:
        """Standard errors of the scores of the m models, shape (m,)."""
        return self._votes.errors

    def resample(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of the m models in each of B resamples of the questions, shape (B, m)."""
        return self._votes.resample(weights)

    def without_judge(self, judge: int) -> NDArray[np.float64]:
        """Return the scores without the verdicts of a judge, shape (m,)."""
        kept = self._matches.only(self._matches.judge != judge)
        return consistency_searches(self._counts(kept), self._seed, 1)[0].scores

    def _points(self, matches: Matches) -> VoteCounts:
        by_model = self.searches[0].weights
        ranks = np.argsort(np.argsort(-by_model, kind="stable"))
        weight = by_model[self._judge_models[matches.judge]]
        bonus = (ranks[matches.low] - ranks[matches.high]) / RANK_SCALE
        low = np.where(matches.outcome > 0.5, matches.outcome + bonus, matches.outcome)
        high = np.where(matches.outcome < 0.5, 1 - matches.outcome - bonus, 1 - matches.outcome)
        return add_up(matches, weight * low, weight * high, self._questions, self._models)

    def _counts(self, matches: Matches) -> JudgedCounts:
        judge = self._judge_models[matches.judge]
        key = (matches.low * self._models + matches.high) * self._models + judge
        keys, cell = distinct_codes(key, self._models**3)
        wins, losses, ties = (
            group_sums(cell, np.sign(matches.outcome - 0.5) == sign, len(keys)) for sign in (1, -1, 0)
        )
        pair = keys // self._models
        return JudgedCounts(
            first=pair // self._models,
            second=pair % self._models,
            judge=keys % self._models,
            wins=wins,
            losses=losses,
            ties=ties,
            items=self._models,
        )

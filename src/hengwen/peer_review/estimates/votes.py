"""Means of votes in which all judges count alike, and votes weighted as by PiCO (arXiv 2402.01830)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.rankings.codes import distinct_codes, group_sums, table_sums
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


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteCounts:
    """Points and numbers of votes of each model on each question."""

    points: NDArray[np.float64]
    """Points by question and model, shape (Q, m)."""
    votes: NDArray[np.float64]
    """Number of votes by question and model, shape (Q, m)."""


class Votes:
    """Mean points of each model."""

    def __init__(self, counts: VoteCounts) -> None:
        self._counts = counts

    @property
    def scores(self) -> NDArray[np.float64]:
        """Mean points of each model, shape (m,); 0 for a model without matches."""
        return _means(self._counts.points.sum(axis=0), self._counts.votes.sum(axis=0))

    @property
    def errors(self) -> NDArray[np.float64]:
        """Standard errors of the means, with questions as clusters, shape (m,)."""
        counts = self._counts
        deviations = counts.points - self.scores * counts.votes
        used = np.maximum((counts.votes > 0).sum(axis=0), 1)
        variance = (deviations**2).sum(axis=0) * used / np.maximum(used - 1, 1)
        errors = np.sqrt(variance) / np.maximum(counts.votes.sum(axis=0), 1)
        return np.asarray(np.where(used > 1, errors, np.nan))

    def resample(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of the m models in each of B resamples of the questions, shape (B, m)."""
        return _means(weights @ self._counts.points, weights @ self._counts.votes)


def uniform_votes(matches: Matches, shape: tuple[int, int]) -> VoteCounts:
    """Give a model 1 point for each win and 0.5 for each tie; all judges count alike."""
    return add_up(matches, matches.outcome, 1 - matches.outcome, shape)


def add_up(
    matches: Matches,
    low_points: NDArray[np.float64],
    high_points: NDArray[np.float64],
    shape: tuple[int, int],
) -> VoteCounts:
    """Add up points and matches by question and model, in shape (Q, m)."""

    def summed(low: NDArray[np.float64] | None, high: NDArray[np.float64] | None) -> NDArray[np.float64]:
        by_low = table_sums(matches.question, matches.low, low, shape)
        return by_low + table_sums(matches.question, matches.high, high, shape)

    return VoteCounts(points=summed(low_points, high_points), votes=summed(None, None))


def _means(points: NDArray[np.float64], votes: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.divide(points, votes, out=np.zeros_like(points), where=votes > 0))


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
        return consistency_searches(self._counts(), self._seed, RESTARTS)

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
        return Votes(self._points())

    @property
    def errors(self) -> NDArray[np.float64]:
        """Standard errors of the scores of the m models, shape (m,)."""
        return self._votes.errors

    def resample(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of the m models in each of B resamples of the questions, shape (B, m)."""
        return self._votes.resample(weights)

    def _points(self) -> VoteCounts:
        matches = self._matches
        by_model = self.searches[0].weights
        ranks = np.argsort(np.argsort(-by_model, kind="stable"))
        weight = by_model[self._judge_models[matches.judge]]
        bonus = (ranks[matches.low] - ranks[matches.high]) / RANK_SCALE
        low = np.where(matches.outcome > 0.5, matches.outcome + bonus, matches.outcome)
        high = np.where(matches.outcome < 0.5, 1 - matches.outcome - bonus, 1 - matches.outcome)
        return add_up(matches, weight * low, weight * high, (self._questions, self._models))

    def _counts(self) -> JudgedCounts:
        matches = self._matches
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

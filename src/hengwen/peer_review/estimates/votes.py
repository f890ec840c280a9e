"""Means of votes in which all judges count alike, and votes weighted as by PiCO (arXiv 2402.01830)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from hengwen.peer_review.verdicts import Matches, Verdicts
from hengwen.stats.rankings.pair_models import (
    RANK_SCALE,
    RESTARTS,
    BradleyTerry,
    ConsistencySearch,
    JudgedCounts,
    Pairs,
    compared_groups,
    consistency_searches,
    distinct_codes,
    fit_bradley_terry,
    group_sums,
    table_sums,
    win_groups,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCounts:
    """The pair of models and the question of each match or verdict.

    The methods add up values of the matches or verdicts, such as wins, for each pair of models.
    """

    pairs: Pairs
    pair: NDArray[np.intp]
    """For each match or verdict, the index in ``pairs`` of its two models, shape (N,)."""
    question: NDArray[np.intp]
    """Question of each match or verdict, shape (N,)."""
    questions: int

    def total(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the values of the matches or verdicts of each of P pairs, shape (1, P)."""
        return group_sums(self.pair, values, len(self.pairs.first))[None]

    def resampled(self, values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of values of each of P pairs in each of B resamples of questions, shape (B, P)."""
        shape = (len(self.pairs.first), self.questions)
        table = question_table(self.pair, self.question, values, shape)
        return resampled_sums(table, weights).T


def question_table(
    rows: NDArray[np.intp], questions: NDArray[np.intp], values: NDArray[np.float64], shape: tuple[int, int]
) -> Any:
    """Return the sums of values by row and question, as a sparse matrix."""
    from scipy.sparse import coo_array

    return coo_array((values.astype(np.float32), (rows, questions)), shape=shape).tocsr()


def resampled_sums(table: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of each of R rows of a table in each of B resamples of the questions, shape (R, B)."""
    return np.asarray(table @ np.ascontiguousarray(weights.T, np.float32), np.float64)


def pair_counts(rows: Matches | Verdicts, models: int, questions: int) -> PairCounts:
    """Group matches or verdicts by pair of models, so that values such as wins can be summed by pair."""
    keys, pair = distinct_codes(rows.low * models + rows.high, models * models)
    first, second = keys // models, keys % models
    return PairCounts(
        pairs=Pairs(first, second, compared_groups(first, second, models)),
        pair=pair,
        question=rows.question,
        questions=questions,
    )


def prior_where_needed(
    pairs: Pairs, wins: NDArray[np.float64], battles: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the precision of the prior for each of K sets of counts, shape (K,)."""
    groups = int(pairs.groups.max(initial=-1)) + 1
    precision = np.zeros(len(wins))
    losses = battles - wins
    for index in np.flatnonzero(~((wins > 0) & (losses > 0)).all(axis=1)):
        linked = win_groups(pairs.first, pairs.second, wins[index], losses[index], pairs.items)
        if int(linked.max(initial=-1)) + 1 > groups:
            precision[index] = WEAK_PRIOR
    return precision


class PairModel:
    """Strengths of a Bradley-Terry model, in logits."""

    def __init__(self, matches: Matches, models: int, questions: int) -> None:
        self._questions, self._matches = questions, matches
        self.counts = pair_counts(matches, models, questions)
        self._ones = np.ones(len(matches))

    @cached_property
    def _totals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Points of the first model and battles of each of P pairs, each of shape (1, P)."""
        return self.counts.total(self._matches.outcome), self.counts.total(self._ones)

    @cached_property
    def prior(self) -> NDArray[np.float64]:
        """Precision of the prior of the strengths, shape (1,); 0 if strengths are finite without a prior."""
        return prior_where_needed(self.counts.pairs, *self._totals)

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """Strength of each model, shape (m,)."""
        return np.asarray(fit_bradley_terry(self.counts.pairs, *self._totals, ridge=self.prior)[0])

    @property
    def errors(self) -> NDArray[np.float64]:
        """Sandwich standard errors with questions as clusters, shape (m,)."""
        pairs, pair, matches = self.counts.pairs, self.counts.pair, self._matches
        gap = self.scores[pairs.first] - self.scores[pairs.second]
        residual = matches.outcome - (1 / (1 + np.exp(-gap)))[pair]
        shape = (self._questions, pairs.items)
        slopes = table_sums(matches.question, matches.low, residual, shape)
        slopes -= table_sums(matches.question, matches.high, residual, shape)
        likelihood = BradleyTerry(pairs, *self._totals, self.prior)
        information = likelihood.derivatives(self.scores[None]).information[0]
        return np.sqrt(np.diag(cluster_covariance(slopes, information)))

    def resample(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the strengths of the m models in each of B resamples of the questions, shape (B, m)."""
        battles = self.counts.resampled(self._ones, weights)
        outcomes = self.counts.resampled(self._matches.outcome, weights)
        ridge = np.maximum(prior_where_needed(self.counts.pairs, outcomes, battles), self.prior)
        return fit_bradley_terry(self.counts.pairs, outcomes, battles, ridge=ridge)

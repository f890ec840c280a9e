"""Strengths of models from counts of their wins in pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.peer_review.estimates.method import WEAK_PRIOR, cluster_covariance
from hengwen.stats.rankings.codes import compared_groups, distinct_codes, group_sums, table_sums, win_groups
from hengwen.stats.rankings.pair_models import (
    BradleyTerry,
    Pairs,
    fit_bradley_terry,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hengwen.peer_review.verdicts import Matches, Verdicts


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

"""Strengths from pairs: Bradley-Terry and Davidson from counts of wins, Elo from the order of matches."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.peer_review.estimates.method import WEAK_PRIOR, cluster_covariance
from hengwen.stats.rankings.codes import compared_groups, distinct_codes, group_sums, table_sums, win_groups
from hengwen.stats.rankings.pair_models import (
    BradleyTerry,
    Davidson,
    Pairs,
    elo_of_orders,
    elo_ratings,
    fit_bradley_terry,
    fit_davidson,
    pair_chances,
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

    def __init__(self, matches: Matches, models: int, questions: int, *, ties: bool = False) -> None:
        self._ties, self._questions, self._matches = ties, questions, matches
        self.counts = pair_counts(matches, models, questions)
        self._ones = np.ones(len(matches))
        self._tied = (matches.outcome == 0.5).astype(float)

    @cached_property
    def _totals(self) -> tuple[NDArray[np.float64], ...]:
        """Points of the first model, ties and battles of each of P pairs, each of shape (1, P)."""
        return tuple(map(self.counts.total, (self._matches.outcome, self._tied, self._ones)))

    @cached_property
    def prior(self) -> NDArray[np.float64]:
        """Precision of the prior of the strengths, shape (1,); 0 if strengths are finite without a prior."""
        outcomes, _, battles = self._totals
        return prior_where_needed(self.counts.pairs, outcomes, battles)

    @cached_property
    def parameters(self) -> NDArray[np.float64]:
        """Strengths of the models, and in Davidson's model the logarithm of the tie parameter."""
        outcomes, tied, battles = self._totals
        return np.asarray(self._fit(outcomes, tied if self._ties else None, battles, ridge=self.prior)[0])

    @property
    def scores(self) -> NDArray[np.float64]:
        """Strength of each model, shape (m,)."""
        return self.parameters[: self.counts.pairs.items]

    @property
    def errors(self) -> NDArray[np.float64]:
        """Sandwich standard errors with questions as clusters, shape (m,)."""
        pairs, pair, matches = self.counts.pairs, self.counts.pair, self._matches
        outcomes, tied, battles = self._totals
        gap = self.scores[pairs.first] - self.scores[pairs.second]
        if self._ties:
            likelihood: Davidson | BradleyTerry = Davidson(
                pairs, outcomes - tied / 2, tied, battles, self.prior
            )
            difference, tie = pair_chances(gap[None], self.parameters[-1:])
            residual = matches.outcome - (1 + difference[0, pair]) / 2
            tie_residual = self._tied - tie[0, pair]
        else:
            likelihood = BradleyTerry(pairs, outcomes, battles, self.prior)
            residual = matches.outcome - (1 / (1 + np.exp(-gap)))[pair]
        shape = (self._questions, pairs.items)
        slopes = table_sums(matches.question, matches.low, residual, shape)
        slopes -= table_sums(matches.question, matches.high, residual, shape)
        if self._ties:
            by_question = group_sums(matches.question, tie_residual, self._questions)
            slopes = np.column_stack([slopes, by_question])
        information = likelihood.derivatives(self.parameters[None]).information[0]
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


class EloRatings:
    """Elo ratings of the models, updated match by match in file order."""

    errors = None

    def __init__(self, matches: Matches, models: int, seed: int) -> None:
        keep = np.argsort(matches.position)
        self._matches = replace(
            matches, **{field.name: getattr(matches, field.name)[keep] for field in fields(matches)}
        )
        self._models, self._seed = models, seed

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """Rating of each model, shape (m,)."""
        return self._ratings(self._matches)

    def resample(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ratings of the m models in B shuffled resamples of the questions, shape (B, m)."""
        rng = np.random.default_rng(self._seed)
        by_question = np.argsort(self._matches.question, kind="stable")
        counts = np.bincount(self._matches.question, minlength=weights.shape[1])
        starts = np.cumsum(counts) - counts
        orders = []
        for drawn in weights.astype(int):
            questions = rng.permutation(np.repeat(np.arange(len(drawn)), drawn))
            runs = counts[questions]
            offsets = np.arange(runs.sum()) - np.repeat(np.cumsum(runs) - runs, runs)
            orders.append(by_question[np.repeat(starts[questions], runs) + offsets])
        padded = np.full((len(orders), max(map(len, orders))), -1)
        for row, order in zip(padded, orders, strict=True):
            row[: len(order)] = order
        matches = self._matches
        return elo_of_orders(matches.low, matches.high, matches.outcome, padded, self._models)

    def without_judge(self, judge: int) -> NDArray[np.float64]:
        """Return the ratings without the verdicts of a judge, shape (m,)."""
        return self._ratings(self._matches.only(self._matches.judge != judge))

    def _ratings(self, matches: Matches) -> NDArray[np.float64]:
        return elo_ratings(matches.low, matches.high, matches.outcome, self._models)

"""Bradley-Terry strengths from single verdicts, with parameters for each judge's quality and preferences."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hengwen.peer_review.estimates.votes import (
    cluster_covariance,
    pair_counts,
    prior_where_needed,
    question_table,
    resampled_sums,
)
from hengwen.peer_review.verdicts import Verdicts
from hengwen.stats.rankings.judge_model import (
    COARSE,
    JudgeDesign,
    Prediction,
    fit_judge_model,
    information_of,
    predict,
)
from hengwen.stats.rankings.pair_models import (
    distinct_codes,
    fit_bradley_terry,
    group_sums,
    stable_order,
    table_sums,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Covariate = Literal["first", "length", "own"]

MAX_EXACT = 2_000_000
"""Maximum value of (number of rows of the design x number of resamples) for which each resample is fitted.
Above this value, each resample is computed by one Newton step from the estimate, with the Fisher information
of all data. For such large data, both methods give almost equal results."""
MANY_JUDGES, FEW_VERDICTS = 20, 100
"""If half of at least this many judges gave fewer verdicts, each resample is computed by one Newton step too.
A fit of a resample follows the single verdicts of such judges, so that the strengths of its models lie
further apart than those of all data, and an interval may leave out its estimate."""
RESAMPLE_STEPS = 30


class JudgeModel:
    """Strengths of the models in logits, for a judge of average discrimination.

    The discrimination of a judge tells how strongly its verdicts depend on the strengths: 1 is average, and 0
    means that they do not depend on the strengths.
    """

    def __init__(
        self, verdicts: Verdicts, judge_models: NDArray[np.intp], models: int, questions: int
    ) -> None:
        self.verdicts, self._questions = verdicts, questions
        columns = _covariates(verdicts, judge_models)
        self.covariates: tuple[Covariate, ...] = tuple(columns)
        self._pooled = pair_counts(verdicts, models, questions)
        covariates = np.column_stack([*columns.values()]) if columns else np.zeros((len(verdicts), 0))
        self.design, self._row = _design(verdicts, covariates, self._pooled.pairs.groups, len(judge_models))
        rows = len(self.design.covariates)
        self._wins = group_sums(self._row, verdicts.outcome, rows)
        self._battles = np.bincount(self._row, minlength=rows).astype(float)

    @cached_property
    def has_few_verdicts(self) -> bool:
        """Whether many judges gave few verdicts each, so that a resample cannot be fitted well."""
        verdicts = np.bincount(self.verdicts.judge, minlength=self.design.judges)
        return self.design.judges >= MANY_JUDGES and float(np.median(verdicts)) < FEW_VERDICTS

    def one_step(self, resamples: int) -> bool:
        """Return whether each resample is computed by one Newton step, not by a fit."""
        return self.has_few_verdicts or len(self.design.covariates) * resamples > MAX_EXACT

    @cached_property
    def _totals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Wins and battles of each of P pairs of models by all judges, each of shape (1, P)."""
        outcome = self.verdicts.outcome
        return self._pooled.total(outcome), self._pooled.total(np.ones(len(outcome)))

    @cached_property
    def prior(self) -> NDArray[np.float64]:
        """Precision of the prior of the strengths, shape (1,); 0 if strengths are finite without a prior."""
        return prior_where_needed(self._pooled.pairs, *self._totals)

    @cached_property
    def parameters(self) -> NDArray[np.float64]:
        """All parameters: strengths, discriminations, coefficients of covariates; shape (p,)."""
        start = np.zeros(self.design.size)
        pooled = fit_bradley_terry(self._pooled.pairs, *self._totals, ridge=self.prior)
        start[self.design.strengths] = pooled[0]
        start[self.design.discriminations] = 1.0
        fitted = fit_judge_model(
            self.design, self._wins[:, None], self._battles[:, None], ridge=self.prior, start=start
        )
        return np.asarray(fitted[0])

    @property
    def scores(self) -> NDArray[np.float64]:
        """Strength of each model, shape (m,)."""
        return self.parameters[self.design.strengths]

    @property
    def discriminations(self) -> NDArray[np.float64]:
        """Discrimination of each judge, shape (J,): how strongly its verdicts depend on the strengths."""
        return self.parameters[self.design.discriminations]

    @cached_property
    def _information(self) -> NDArray[np.float64]:
        return information_of(self.design, self.parameters, self._battles, float(self.prior[0]))

    @cached_property
    def covariance(self) -> NDArray[np.float64]:
        """Sandwich covariance of all parameters with questions as clusters, shape (p, p)."""
        return cluster_covariance(self._slopes, self._information)

    @property
    def errors(self) -> NDArray[np.float64]:
        """Standard errors of the strengths, shape (m,)."""
        return np.sqrt(np.diag(self.covariance)[self.design.strengths])

    @cached_property
    def residuals(self) -> NDArray[np.float64]:
        """Outcome of each verdict minus its expected value, shape (V,)."""
        from scipy.special import expit

        chance = expit(self._prediction.logit[:, 0])
        return np.asarray(self.verdicts.outcome - chance[self._row])

    @cached_property
    def _prediction(self) -> Prediction:
        return predict(self.design, self.parameters[None])

    @cached_property
    def _slopes(self) -> NDArray[np.float64]:
        """Gradient of the log-likelihood of each question, shape (Q, p)."""
        design, verdicts, questions = self.design, self.verdicts, self.verdicts.question
        cell = design.cell_of_row[self._row]
        gap, slope = self._prediction.gap[cell, 0], self._prediction.slope[cell, 0]

        def by_question(index: NDArray[np.intp], values: NDArray[np.float64], size: int) -> Any:
            return table_sums(questions, index, values, (self._questions, size))

        steep = self.residuals * slope
        items, judges = design.items, design.judges
        by_model = by_question(verdicts.low, steep, items) - by_question(verdicts.high, steep, items)
        terms = (gap, *design.covariates[self._row].T)
        by_judge = [by_question(verdicts.judge, self.residuals * term, judges) for term in terms]
        return np.concatenate([by_model, *by_judge], axis=1)

    def resample_parameters(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return all p parameters, estimated from each of B resamples of the questions, shape (B, p)."""
        if self.one_step(len(weights)):
            centred = weights @ self._slopes - self._slopes.sum(axis=0)
            return np.asarray(self.parameters + np.linalg.solve(self._information, centred.T).T)
        shape = (len(self.design.covariates), self._questions)
        question = self.verdicts.question
        counted = (self.verdicts.outcome, np.ones(len(question)))
        wins, battles = (
            resampled_sums(question_table(self._row, question, values, shape), weights) for values in counted
        )
        by_pair = (self._pooled.resampled(values, weights) for values in counted)
        return self._refit(wins, battles, prior_where_needed(self._pooled.pairs, *by_pair))

    def _refit(
        self, wins: NDArray[np.float64], battles: NDArray[np.float64], ridge: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return all p parameters for each of K sets of counts of the rows, shape (K, p)."""
        return fit_judge_model(
            self.design,
            wins,
            battles,
            ridge=np.maximum(ridge, self.prior),
            start=self.parameters,
            max_steps=RESAMPLE_STEPS,
            tolerance=COARSE,
        )

    def resample(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the strengths of the m models in each of B resamples of the questions, shape (B, m)."""
        return self.resample_parameters(weights)[:, self.design.strengths]


def _covariates(verdicts: Verdicts, judge_models: NDArray[np.intp]) -> dict[Covariate, NDArray[np.float64]]:
    """Return the covariates that differ from 0 for at least one verdict; each has the shape (V,)."""
    own = judge_models[verdicts.judge]
    columns: dict[Covariate, NDArray[np.float64]] = {
        "first": verdicts.first.astype(float),
        "own": (own == verdicts.low).astype(float) - (own == verdicts.high),
    }
    if verdicts.length is not None:
        columns["length"] = verdicts.length
    return {name: column for name, column in columns.items() if np.any(column != 0)}


def _design(
    verdicts: Verdicts, covariates: NDArray[np.float64], groups: NDArray[np.intp], judges: int
) -> tuple[JudgeDesign, NDArray[np.intp]]:
    """Return the design of the fit, and the row of each verdict in the design."""
    models = len(groups)
    cell = (verdicts.judge * models + verdicts.low) * models + verdicts.high
    if verdicts.length is None:
        keys, row = distinct_codes(cell * 3 + verdicts.first + 1, judges * models**2 * 3)
        position = np.empty(len(keys), np.intp)
        position[row] = np.arange(len(row))
    else:
        position = stable_order(cell)
        row = np.empty(len(position), np.intp)
        row[position] = np.arange(len(position))
    starts = np.flatnonzero(np.diff(cell[position], prepend=-1))
    design = JudgeDesign(
        first=verdicts.low[position][starts],
        second=verdicts.high[position][starts],
        judge=verdicts.judge[position][starts],
        rows=np.diff(starts, append=len(position)),
        covariates=covariates[position],
        groups=groups,
        judges=judges,
    )
    return design, row

"""Bradley-Terry model in which each judge has a discrimination and its own preferences.

The chance that judge j prefers model a to model b is logistic(d_j (s_a - s_b) + sum of c_jk x_k). Here, d_j
is the discrimination of the judge, s_a and s_b are the strengths of the models, x_k are covariates such as
the position in the prompt, and c_jk are the coefficients of the judge for the covariates. The discriminations
have the mean 1, and the strengths of models that battles link have the mean 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hengwen.stats.rankings.pair_models import Derivatives, maximise

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class JudgeDesign:
    """Battles, arranged as rows in cells."""

    # A cell contains all battles of one pair of models that one judge has judged. The rows are sorted by
    # cell. Battles of a cell that have the same covariates can share a row.

    first: NDArray[np.intp]
    """Index of the first model of each cell (pair of models and judge), shape (C,)."""
    second: NDArray[np.intp]
    """Index of the second model of each cell (pair of models and judge), shape (C,)."""
    judge: NDArray[np.intp]
    """Index of the judge of each cell (pair of models and judge), shape (C,)."""
    rows: NDArray[np.intp]
    """Number of rows (battles with equal covariates) of each cell, >= 1, shape (C,)."""
    covariates: NDArray[np.float64]
    """Covariates of each row, shape (R, T), such as 1 if the first model is shown first and -1 if second."""
    groups: NDArray[np.intp]
    """Group of each model, shape (m,). Battles link the models of a group; their mean strength is 0."""
    judges: int
    """Number of judges."""

    @property
    def items(self) -> int:
        """Number of models."""
        return len(self.groups)

    @property
    def terms(self) -> int:
        """Number of covariates."""
        return int(self.covariates.shape[1])

    @property
    def size(self) -> int:
        """Number of parameters: strengths of models, discriminations and covariate coefficients of judges."""
        return self.items + self.judges * (1 + self.terms)

    @property
    def strengths(self) -> slice:
        """Slice of the parameter vector with the strength of each model."""
        return slice(0, self.items)

    @property
    def discriminations(self) -> slice:
        """Slice of the parameter vector with each judge's discrimination (how well it tells models apart)."""
        return slice(self.items, self.items + self.judges)

    @property
    def all_coefficients(self) -> slice:
        """Slice of the parameter vector with the coefficients of each covariate for each judge."""
        return slice(self.items + self.judges, self.size)

    def coefficients(self, term: int) -> slice:
        """Return the slice of the parameter vector with a covariate's coefficients, one for each judge."""
        start = self.items + self.judges * (1 + term)
        return slice(start, start + self.judges)

    @cached_property
    def cell_of_row(self) -> NDArray[np.intp]:
        """Index of the cell (pair of models and judge) of each row, shape (R,)."""
        return np.repeat(np.arange(len(self.rows)), self.rows)

    @cached_property
    def to_models(self) -> Any:
        """Matrix that sums, with signs, one value per cell (pair of models and judge) by model."""
        return self._signed(self.first, self.second, self.items)

    @cached_property
    def to_judges(self) -> Any:
        """Matrix that sums one value per cell (pair of models and judge) by judge, shape (judges, cells)."""
        return _sums(self.judge, self.judges)

    @cached_property
    def to_judged_models(self) -> Any:
        """Matrix that sums, with signs, one value per cell (pair of models and judge) by judge and model."""
        offset = self.judge * self.items
        return self._signed(offset + self.first, offset + self.second, self.judges * self.items)

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Any]:
        """First and second model of each pair of models, each of shape (P,), and a matrix of shape (P, C)."""
        keys, pair = np.unique(self.first * self.items + self.second, return_inverse=True)
        return keys // self.items, keys % self.items, _sums(pair, len(keys))

    @cached_property
    def centring(self) -> NDArray[np.float64]:
        """Matrix that replaces each model's strength by the mean strength of its group, shape (m, m)."""
        same = self.groups[:, None] == self.groups
        return np.asarray(same / same.sum(axis=1))

    def by_cell(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of ``values`` over the rows of each cell (pair of models and judge), shape (C, K)."""
        if len(self.rows) == len(values):
            return values
        if values.shape[1] == 1:
            return np.add.reduceat(values[:, 0], self._starts)[:, None]
        return np.asarray(self._to_cells @ values)

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        return np.asarray(np.cumsum(self.rows) - self.rows)

    @cached_property
    def _to_cells(self) -> Any:
        return _sums(self.cell_of_row, len(self.rows))

    def _signed(self, plus: NDArray[np.intp], minus: NDArray[np.intp], count: int) -> Any:
        from scipy.sparse import csr_array

        cells = len(self.first)
        columns = np.stack([plus, minus], axis=1).ravel()
        entries = (np.tile([1.0, -1.0], cells), columns, np.arange(0, 2 * cells + 1, 2))
        return csr_array(entries, shape=(cells, count)).T.tocsr()


def _sums(target: NDArray[np.intp], count: int) -> Any:
    from scipy.sparse import csr_array

    entries = (np.ones(len(target)), target, np.arange(len(target) + 1))
    return csr_array(entries, shape=(len(target), count)).T.tocsr()


DISCRIMINATION_PRECISION = 1.0
"""Precision of the normal prior of a discrimination around 1; with few battles, the estimate stays near 1."""
COEFFICIENT_PRECISION = 0.25
"""Precision of the normal prior around 0 of the coefficient of a covariate (such as an answer's position)."""
MAX_CELLS = 4_000_000
"""Maximum number of elements of an array with one row for each group of battles with equal covariates, and
one column for each set of counts (such as a resample). The sets are fitted in chunks whose arrays have at
most this size, but at least one set at a time."""
FINE = 1e-6
"""Tolerance of the fit to all data. Near the maximum, each step is about 100 times shorter than the last, so
the remaining error is much smaller than the tolerance."""
COARSE = 1e-4
"""Tolerance of the fit to a resample; strengths differ much more than this between resamples."""


class Prediction(NamedTuple):
    """Predictions of the model for K sets of parameters."""

    gap: NDArray[np.float64]
    """Strength of the first model minus that of the second in each cell, shape (C, K)."""
    slope: NDArray[np.float64]
    """Discrimination of the judge of each cell (pair of models and judge), shape (C, K)."""
    logit: NDArray[np.float64]
    """Logit of the chance that the first model wins, in each row (battles with equal covariates), (R, K)."""


class JudgeLikelihood:
    """Penalised log-likelihoods of K sets of counts (wins and battles)."""

    def __init__(
        self,
        design: JudgeDesign,
        wins: NDArray[np.float64],
        battles: NDArray[np.float64],
        ridge: NDArray[np.float64],
    ) -> None:
        self.design, self.wins, self.battles, self.ridge = design, wins, battles, ridge
        self._last: tuple[NDArray[np.float64], Prediction] | None = None

    def value(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-likelihoods, shape (K,)."""
        design = self.design
        logit = self._predict(parameters).logit
        likelihood = np.einsum("rk,rk->k", self.wins, logit)
        likelihood -= np.einsum("rk,rk->k", self.battles, np.logaddexp(0.0, logit))
        penalty = self.ridge * (parameters[:, design.strengths] ** 2).sum(axis=1)
        penalty += DISCRIMINATION_PRECISION * ((parameters[:, design.discriminations] - 1) ** 2).sum(axis=1)
        penalty += COEFFICIENT_PRECISION * (parameters[:, design.all_coefficients] ** 2).sum(axis=1)
        return np.asarray(likelihood - penalty / 2)

    def derivatives(self, parameters: NDArray[np.float64]) -> Derivatives:
        """Return the gradient and the expected (Fisher) information of the log-likelihoods."""
        from scipy.special import expit

        prediction = self._predict(parameters)
        chance = expit(prediction.logit)
        spread = self.battles * chance
        residual = self.wins - spread
        spread *= 1 - chance
        gradient = _gradient(self.design, residual, prediction)
        information = _information(self.design, spread, prediction)
        return self._penalised(parameters, gradient, information)

    def _predict(self, parameters: NDArray[np.float64]) -> Prediction:
        """Return the prediction, and cache it for the next call with the same parameters."""
        if self._last is None or self._last[0] is not parameters:
            self._last = (parameters, predict(self.design, parameters))
        return self._last[1]

    def _penalised(
        self, parameters: NDArray[np.float64], gradient: NDArray[np.float64], information: NDArray[np.float64]
    ) -> Derivatives:
        design = self.design
        diagonal = np.empty_like(parameters)
        diagonal[:, design.strengths] = self.ridge[:, None]
        diagonal[:, design.discriminations] = DISCRIMINATION_PRECISION
        diagonal[:, design.all_coefficients] = COEFFICIENT_PRECISION
        centre = np.zeros(design.size)
        centre[design.discriminations] = 1.0
        gradient -= diagonal * (parameters - centre)
        index = np.arange(design.size)
        scale = 1.0 + np.abs(information[:, index, index]).mean(axis=1)
        information[:, index, index] += diagonal
        information[:, design.strengths, design.strengths] += scale[:, None, None] * design.centring
        # keep the mean of the discriminations at 1
        information[:, design.discriminations, design.discriminations] += 1e3 * scale[:, None, None]
        excess = parameters[:, design.discriminations].sum(axis=1) - design.judges
        gradient[:, design.discriminations] -= (1e3 * scale * excess)[:, None]
        return Derivatives(gradient, information)


def predict(design: JudgeDesign, parameters: NDArray[np.float64]) -> Prediction:
    """Return the predictions of the model for K sets of parameters."""
    columns = np.ascontiguousarray(parameters.T)
    strengths = columns[design.strengths]
    gap = strengths[design.first] - strengths[design.second]
    slope = columns[design.discriminations][design.judge]
    logit = (slope * gap)[design.cell_of_row]
    for term in range(design.terms):
        by_cell = columns[design.coefficients(term)][design.judge]
        logit += by_cell[design.cell_of_row] * design.covariates[:, term, None]
    return Prediction(gap, slope, logit)


def _gradient(
    design: JudgeDesign, residual: NDArray[np.float64], prediction: Prediction
) -> NDArray[np.float64]:
    by_cell = design.by_cell(residual)
    parts = [
        design.to_models @ (by_cell * prediction.slope),
        design.to_judges @ (by_cell * prediction.gap),
    ]
    parts += [
        design.to_judges @ design.by_cell(residual * design.covariates[:, term, None])
        for term in range(design.terms)
    ]
    return np.concatenate(parts).T


def _information(
    design: JudgeDesign, spread: NDArray[np.float64], prediction: Prediction
) -> NDArray[np.float64]:
    """Return the expected (Fisher) information of the p parameters, without priors, shape (K, p, p)."""
    sets, items, judges = spread.shape[1], design.items, design.judges
    gap, slope = prediction.gap, prediction.slope
    weighted = [spread * design.covariates[:, term, None] for term in range(design.terms)]
    sums = [design.by_cell(values) for values in (spread, *weighted)]
    information = np.zeros((sets, design.size, design.size))
    first, second, to_pairs = design.pairs
    weights = (to_pairs @ (sums[0] * slope**2)).T
    information[:, first, second] -= weights
    information[:, second, first] -= weights
    index = np.arange(items)
    information[:, index, index] = -information[:, :items, :items].sum(axis=2)
    sums[0] = sums[0] * gap
    blocks = [design.discriminations, *map(design.coefficients, range(design.terms))]
    judge = np.arange(judges)

    def fill(block: slice, other: slice, by_cell: NDArray[np.float64]) -> None:
        diagonal = (design.to_judges @ by_cell).T
        information[:, block.start + judge, other.start + judge] = diagonal
        information[:, other.start + judge, block.start + judge] = diagonal

    for by_cell, block in zip(sums, blocks, strict=True):
        cross = (design.to_judged_models @ (by_cell * slope)).T.reshape(sets, judges, items)
        information[:, block, :items] = cross
        information[:, :items, block] = cross.transpose(0, 2, 1)
        fill(block, design.discriminations, by_cell * gap)
    for term, values in enumerate(weighted):
        for other in range(term + 1):
            by_cell = design.by_cell(values * design.covariates[:, other, None])
            fill(design.coefficients(term), design.coefficients(other), by_cell)
    return information


def fit_judge_model(
    design: JudgeDesign,
    wins: NDArray[np.float64],
    battles: NDArray[np.float64],
    *,
    ridge: NDArray[np.float64] | None = None,
    start: NDArray[np.float64] | None = None,
    max_steps: int = 100,
    tolerance: float = FINE,
) -> NDArray[np.float64]:
    """Return the parameters for K sets of counts, shape (K, p), in the order of the design."""
    sets = wins.shape[1]
    if start is None:
        start = np.zeros(design.size)
        start[design.discriminations] = 1.0
    precision = np.zeros(sets) if ridge is None else ridge
    chunk = max(1, MAX_CELLS // max(1, len(design.covariates)))
    parts = []
    for begin in range(0, sets, chunk):
        part = slice(begin, begin + chunk)
        likelihood = JudgeLikelihood(design, wins[:, part], battles[:, part], precision[part])
        parameters = np.tile(start, (wins[:, part].shape[1], 1))
        parts.append(maximise(likelihood, parameters, max_steps=max_steps, tolerance=tolerance))
    return np.concatenate(parts)


def information_of(
    design: JudgeDesign,
    parameters: NDArray[np.float64],
    battles: NDArray[np.float64],
    ridge: float = 0.0,
) -> NDArray[np.float64]:
    """Return the expected information of all parameters with priors and constraints, shape (p, p)."""
    likelihood = JudgeLikelihood(design, battles[:, None] / 2, battles[:, None], np.array([ridge]))
    return np.asarray(likelihood.derivatives(parameters[None]).information[0])

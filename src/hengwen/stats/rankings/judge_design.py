"""The data of a Bradley-Terry model with judges, arranged so that sums over battles are matrix products."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class JudgeDesign:
    """Battles, arranged as rows in cells.

    A cell contains all battles of one pair of models that one judge has judged. The rows are sorted by cell.
    Battles of a cell that have the same covariates can share a row.
    """

    first: NDArray[np.intp]
    """Index of the first model of each cell (pair of models and judge), shape (C,)."""
    second: NDArray[np.intp]
    """Index of the second model of each cell (pair of models and judge), shape (C,)."""
    judge: NDArray[np.intp]
    """Index of the judge of each cell (pair of models and judge), shape (C,)."""
    rows: NDArray[np.intp]
    """Number of rows of each cell (pair of models and judge), >= 1, shape (C,).

    A row is one battle, or several battles with equal covariates.
    """
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

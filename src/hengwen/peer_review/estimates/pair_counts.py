"""Count wins by pair of models and question in sparse matrices; a resample is then a matrix product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hengwen.peer_review.estimates.estimate import WEAK_PRIOR
from hengwen.stats.rankings.bradley_terry import Pairs
from hengwen.stats.rankings.codes import distinct_codes, group_sums
from hengwen.stats.rankings.graph import compared_groups, win_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PairRows(Protocol):
    """Matches or verdicts (rows), each with two models and a question."""

    @property
    def low(self) -> NDArray[np.intp]:
        """For each match or verdict, the model with the lower index."""
        ...

    @property
    def high(self) -> NDArray[np.intp]:
        """For each match or verdict, the model with the higher index."""
        ...

    @property
    def question(self) -> NDArray[np.intp]:
        """Question of each match or verdict."""
        ...


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
    """Number of questions."""

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


def pair_counts(rows: PairRows, models: int, questions: int) -> PairCounts:
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

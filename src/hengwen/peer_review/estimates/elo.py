"""Elo ratings from matches; the ratings depend on the order of the matches."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.rankings.pair_models import elo_of_orders, elo_ratings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hengwen.peer_review.verdicts import Matches


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

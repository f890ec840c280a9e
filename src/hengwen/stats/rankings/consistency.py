"""Weigh judges by the method of PiCO, a peer review in which models judge the answers of other models.

PiCO looks for weights of the judges that correlate with the scores of the judges' own answers. The search
follows the program that the authors of PiCO published. A linear layer and a logistic function turn random
noise into weights, and gradient steps on the layer increase the correlation. The result depends on the noise,
so the search is repeated with other noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.rankings.codes import group_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

EPOCHS = 30
LEARNING_RATE = 0.1
DECAY_EVERY = 10
"""Number of epochs after which the learning rate is divided by 10."""
RANK_SCALE = 200.0
"""Constant K in the points of a win: 1 + (rank of the winner - rank of the loser) / K. The models are ranked
by their weights; the model with the highest weight has rank 0."""
RESTARTS = 16
"""Number of searches for the weights of the judges, each with its own random start. The weights of the first
search are used; the other searches show how much the ranking depends on the start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCounts:
    """Wins and ties, one entry for each pair of models and judge; the judges are the models themselves."""

    first: NDArray[np.intp]
    """Index of the first model in each entry (pair of models and judge), shape (C,)."""
    second: NDArray[np.intp]
    """Index of the second model in each entry (pair of models and judge), shape (C,)."""
    judge: NDArray[np.intp]
    """Index of the model that judged, in each entry (pair of models and judge), shape (C,)."""
    wins: NDArray[np.float64]
    """Number of wins of the first model in each entry, shape (C,)."""
    losses: NDArray[np.float64]
    """Number of wins of the second model in each entry, shape (C,)."""
    ties: NDArray[np.float64]
    """Number of ties in each entry, shape (C,)."""
    items: int
    """Number of models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencySearch:
    """Result of one search for judge weights that correlate with the scores of the judges' own answers."""

    weights: NDArray[np.float64]
    """Weight of each model as a judge, in (0, 1), shape (m,)."""
    scores: NDArray[np.float64]
    """Score of each model, shape (m,)."""
    correlation: float
    """Pearson correlation of the weights and the scores of the judges."""


def consistency_searches(
    counts: JudgedCounts, seed: int, restarts: int = RESTARTS
) -> list[ConsistencySearch]:
    """Return the results of several searches for the weights of judges, each with its own random start."""
    return [_search(counts, child) for child in np.random.default_rng(seed).spawn(restarts)]


def _search(counts: JudgedCounts, rng: np.random.Generator) -> ConsistencySearch:
    judges = np.unique(counts.judge)
    bound = 1 / np.sqrt(counts.items)
    noise = rng.normal(size=counts.items)
    layer = rng.uniform(-bound, bound, size=(counts.items, counts.items))
    logits = layer @ noise + rng.uniform(-bound, bound, size=counts.items)
    speed = noise @ noise + 1  # one gradient step on layer and bias moves the logits by this much
    for epoch in range(EPOCHS):
        weights = 1 / (1 + np.exp(-logits))
        values = _battle_values(counts, weights)
        scores = _scores(counts, weights, values)
        correlation, slope, score_slope = _correlation(weights[judges], scores[judges])
        result = ConsistencySearch(weights=weights, scores=scores, correlation=correlation)
        by_model = np.zeros(counts.items)
        by_model[judges] = score_slope
        slopes = _score_gradient(counts, by_model, values)
        slopes[judges] += slope
        rate = LEARNING_RATE * 0.1 ** (epoch // DECAY_EVERY)
        logits += rate * speed * slopes * weights * (1 - weights)
    return result


def _battle_values(
    counts: JudgedCounts, weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the points of the first and the second model for each pair of models and judge."""
    ranks = np.empty(counts.items)
    ranks[np.argsort(-weights, kind="stable")] = np.arange(counts.items)
    bonus = (ranks[counts.first] - ranks[counts.second]) / RANK_SCALE
    half = 0.5 * counts.ties
    return counts.wins * (1 + bonus) + half, counts.losses * (1 - bonus) + half


def _battles(counts: JudgedCounts) -> NDArray[np.float64]:
    total = counts.wins + counts.losses + counts.ties
    by_model = group_sums(counts.first, total, counts.items)
    return np.asarray(np.maximum(by_model + group_sums(counts.second, total, counts.items), 1))


def _scores(
    counts: JudgedCounts,
    weights: NDArray[np.float64],
    values: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> NDArray[np.float64]:
    by_judge = weights[counts.judge]
    points = group_sums(counts.first, values[0] * by_judge, counts.items)
    points += group_sums(counts.second, values[1] * by_judge, counts.items)
    return np.asarray(points / _battles(counts))


def _score_gradient(
    counts: JudgedCounts,
    slopes: NDArray[np.float64],
    values: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return the gradient of a function of the models' scores with respect to the weights of the judges."""
    slopes = slopes / _battles(counts)
    points = slopes[counts.first] * values[0] + slopes[counts.second] * values[1]
    return np.asarray(group_sums(counts.judge, points, counts.items))


def _correlation(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Return the Pearson correlation and its gradients with respect to x and y; 0 if x or y is constant."""
    dx, dy = x - x.mean(), y - y.mean()
    norm = float(np.sqrt((dx @ dx) * (dy @ dy)))
    if norm < 1e-12:
        return 0.0, np.zeros_like(x), np.zeros_like(y)
    value = float(dx @ dy) / norm
    return value, dy / norm - value * dx / (dx @ dx), dx / norm - value * dy / (dy @ dy)

"""Strengths of items from pairs: Bradley-Terry models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


MAX_HALVINGS = 12
"""Maximum number of times that a step is halved because it lowers the likelihood."""
MAX_STEP = 2.0
"""Largest change of a parameter in one step; where logistic curves are flat, Newton steps are too long."""
TOLERANCE = 1e-10
"""The search ends after a step in which no parameter changes by more than this."""


class Derivatives(NamedTuple):
    """Derivatives of K log-likelihoods with p parameters each."""

    gradient: NDArray[np.float64]
    """Shape (K, p)."""
    information: NDArray[np.float64]
    """Negative second derivatives or their expected values, positive definite, shape (K, p, p)."""


class Likelihood(Protocol):
    """K penalised log-likelihoods that ``maximise`` maximises at the same time."""

    def value(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-likelihoods, shape (K,), at parameters of shape (K, p)."""
        ...

    def derivatives(self, parameters: NDArray[np.float64]) -> Derivatives:
        """Return the derivatives at parameters of shape (K, p)."""
        ...


def maximise(
    likelihood: Likelihood, start: NDArray[np.float64], *, max_steps: int = 100, tolerance: float = TOLERANCE
) -> NDArray[np.float64]:
    """Return the parameters that maximise K log-likelihoods, shape (K, p)."""
    parameters = start.copy()
    values = likelihood.value(parameters)
    for _ in range(max_steps):
        gradient, information = likelihood.derivatives(parameters)
        step: NDArray[Any] = np.linalg.solve(information, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=1, initial=0.0)
        step *= (MAX_STEP / np.maximum(longest, MAX_STEP))[:, None]
        if longest.max(initial=0.0) <= tolerance:
            return np.asarray(parameters + step)
        parameters, values = _climb(likelihood, parameters, values, step)
    return parameters


def _climb(
    likelihood: Likelihood,
    parameters: NDArray[np.float64],
    values: NDArray[np.float64],
    step: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return new parameters and their values; steps that lower a likelihood are halved."""
    for _ in range(MAX_HALVINGS):
        candidate = parameters + step
        new = likelihood.value(candidate)
        worse = new < values - 1e-9 * (1 + np.abs(values))
        if not worse.any():
            return candidate, new
        step = np.where(worse[:, None], step / 2, step)
    keep = worse[:, None]
    return np.where(keep, parameters, candidate), np.where(worse, values, new)


class Pairs:
    """The pairs of items that were compared, each pair once."""

    def __init__(self, first: NDArray[np.intp], second: NDArray[np.intp], groups: NDArray[np.intp]) -> None:
        self.first, self.second, self.groups = first, second, groups
        items, pairs = len(groups), len(first)
        self.incidence = np.zeros((pairs, items))
        self.incidence[np.arange(pairs), first] = 1.0
        self.incidence[np.arange(pairs), second] = -1.0
        members = groups == np.arange(int(groups.max(initial=0)) + 1)[:, None]
        self.centring = (members.T.astype(float) @ members) / np.maximum(members.sum(axis=1), 1)[groups]
        """Matrix that replaces each strength by the mean strength of its group, shape (m, m)."""

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self.groups)

    def laplacian(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one matrix for each row w of the weights: ``incidence.T @ diag(w) @ incidence``."""
        matrix = np.zeros((len(weights), self.items, self.items))
        matrix[:, self.first, self.second] = -weights
        matrix[:, self.second, self.first] = -weights
        diagonal = np.arange(self.items)
        matrix[:, diagonal, diagonal] = weights @ np.abs(self.incidence)
        return matrix


class BradleyTerry:
    """Penalised log-likelihoods of K Bradley-Terry models."""

    def __init__(
        self,
        pairs: Pairs,
        wins: NDArray[np.float64],
        battles: NDArray[np.float64],
        ridge: NDArray[np.float64],
    ) -> None:
        self.pairs, self.wins, self.battles, self.ridge = pairs, wins, battles, ridge

    def value(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-likelihoods, shape (K,)."""
        gap = parameters @ self.pairs.incidence.T
        likelihood = (self.wins * gap - self.battles * np.logaddexp(0.0, gap)).sum(axis=1)
        return np.asarray(likelihood - self.ridge / 2 * (parameters**2).sum(axis=1))

    def derivatives(self, parameters: NDArray[np.float64]) -> Derivatives:
        """Return the gradients and the information matrices (negative second derivatives) of the K models."""
        from scipy.special import expit

        chance = expit(parameters @ self.pairs.incidence.T)
        spread = self.battles * chance * (1 - chance)
        gradient = (self.wins - self.battles * chance) @ self.pairs.incidence
        information = self.pairs.laplacian(spread)
        information += self.ridge[:, None, None] * np.eye(self.pairs.items)
        scale = 1.0 + np.einsum("kii->k", information) / self.pairs.items
        return Derivatives(
            gradient - self.ridge[:, None] * parameters,
            information + scale[:, None, None] * self.pairs.centring,
        )


def fit_bradley_terry(
    pairs: Pairs,
    wins: NDArray[np.float64],
    battles: NDArray[np.float64],
    *,
    ridge: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the strengths of the items in K sets of counts, in logits, shape (K, m)."""
    sets = len(wins)
    precision = np.zeros(sets) if ridge is None else ridge
    return maximise(BradleyTerry(pairs, wins, battles, precision), np.zeros((sets, pairs.items)))


MAX_KEY = 1 << 62


def stable_order(keys: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the order that sorts keys >= 0; equal keys keep their order."""
    rows = max(len(keys), 1)
    if int(keys.max(initial=0)) >= MAX_KEY // rows:
        return np.argsort(keys, kind="stable")
    # numbers that differ can be sorted by an unstable method, which is several times faster
    combined = keys * rows + np.arange(len(keys))
    combined.sort()
    return np.asarray(combined % rows)


def distinct_codes(keys: NDArray[np.intp], bound: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct keys in ascending order, and the index of each key among them."""
    if bound > 4 * len(keys) + (1 << 16):
        distinct, codes = np.unique(keys, return_inverse=True)
        return distinct, codes
    distinct = np.flatnonzero(np.bincount(keys, minlength=bound))
    table = np.zeros(bound, np.intp)
    table[distinct] = np.arange(len(distinct))
    return distinct, table[keys]


def group_sums(groups: NDArray[np.intp], values: NDArray[Any], count: int) -> NDArray[np.float64]:
    """Return the sums of the values of each group from 0 to below ``count``, shape (count,)."""
    return np.asarray(np.bincount(groups, values, count), np.float64)


def table_sums(
    rows: NDArray[np.intp], columns: NDArray[np.intp], values: NDArray[Any] | None, shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return the sums of values by row and column; None counts."""
    cells = np.bincount(rows * shape[1] + columns, values, shape[0] * shape[1])
    return np.asarray(cells.reshape(shape), np.float64)


def compared_groups(first: NDArray[np.intp], second: NDArray[np.intp], items: int) -> NDArray[np.intp]:
    """Return the group of each item; two items are in one group if a chain of battles links them."""
    return _components(first, second, items, "weak")


def win_groups(
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    wins: NDArray[np.float64],
    losses: NDArray[np.float64],
    items: int,
) -> NDArray[np.intp]:
    """The group of each item; in a group, chains of wins or ties lead from each item to every other."""
    winner = np.concatenate([first[wins > 0], second[losses > 0]])
    loser = np.concatenate([second[wins > 0], first[losses > 0]])
    return _components(winner, loser, items, "strong")


def _components(
    start: NDArray[np.intp], end: NDArray[np.intp], items: int, connection: str
) -> NDArray[np.intp]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(start)), (start, end)), shape=(items, items)).tocsr()
    labels = connected_components(graph, directed=True, connection=connection)[1]
    _, order, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(order))[inverse])


DECIMALS = 7
"""Scores that are equal to this many decimals are tied; numerical errors of fitted scores are smaller."""


def ranks_of(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rank of each score from 1, the highest first; equal scores share the better rank."""
    scores = np.round(scores, DECIMALS)
    ordered = np.sort(scores)
    return np.asarray(len(scores) - np.searchsorted(ordered, scores, side="right") + 1)


def rank_intervals(
    scores: NDArray[np.float64],
    resamples: NDArray[np.float64],
    confidence: float = 0.95,
    groups: NDArray[np.intp] | None = None,
) -> NDArray[np.intp]:
    """Return the lowest and the highest possible rank of each item, shape (m, 2)."""
    scores, resamples = np.round(scores, DECIMALS), np.round(resamples, DECIMALS)
    items = len(scores)
    intervals = np.empty((items, 2), np.intp)
    for item in range(items):
        gaps = scores[item] - scores
        errors = (resamples[:, [item]] - resamples) - gaps
        is_known = ~np.isnan(errors)
        known = is_known.sum(axis=0)
        errors[~is_known] = 0.0
        spread = np.sqrt((errors**2).sum(axis=0) / np.maximum(known, 1))
        comparable = (known > 0) if groups is None else (known > 0) & (groups == groups[item])
        comparable[item] = False
        varying = comparable & (spread > 0)
        reach = np.zeros(items)
        if varying.any():
            drawn = ~np.isnan(resamples[:, item])
            largest = (np.abs(errors[np.ix_(drawn, varying)]) / spread[varying]).max(axis=1)
            reach[varying] = np.quantile(largest, confidence) * spread[varying]
        better = int((comparable & (gaps < -reach)).sum())
        worse = int((comparable & (gaps > reach)).sum())
        intervals[item] = (1 + better, items - worse)
    return intervals


def rank_correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    """Return Kendall's tau-b of two lists of scores; None if all scores of one list are equal."""
    a, b = np.round(a, DECIMALS), np.round(b, DECIMALS)
    a_signs, b_signs = np.sign(a[:, None] - a), np.sign(b[:, None] - b)
    scale = np.sqrt(np.abs(a_signs).sum() * np.abs(b_signs).sum())
    return float((a_signs * b_signs).sum() / scale) if scale else None


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

from __future__ import annotations

import choix
import evalica
import numpy as np
import pytest
from rows import each_row
from scipy.optimize import minimize

from hengwen.stats.rankings.pair_models import Pairs, compared_groups, fit_bradley_terry, win_groups

ITEMS = 12


def tournament(seed: int, battles: int, tie_share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return first item, second item and outcome of random battles."""
    rng = np.random.default_rng(seed)
    strengths = rng.normal(size=ITEMS)
    first = rng.integers(0, ITEMS, battles)
    second = (first + rng.integers(1, ITEMS, battles)) % ITEMS
    outcome = (rng.random(battles) < 1 / (1 + np.exp(strengths[second] - strengths[first]))).astype(float)
    outcome[rng.random(battles) < tie_share] = 0.5
    return first, second, outcome


def counted(
    first: np.ndarray, second: np.ndarray, outcome: np.ndarray
) -> tuple[Pairs, np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs, points of the first item, ties, and battles."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    points = np.where(first < second, outcome, 1 - outcome)
    keys, pair = np.unique(low * ITEMS + high, return_inverse=True)
    groups = compared_groups(keys // ITEMS, keys % ITEMS, ITEMS)
    pairs = Pairs(keys // ITEMS, keys % ITEMS, groups)
    values = (points, outcome == 0.5, np.ones(len(points)))
    sums = [np.bincount(pair, value, len(keys))[None] for value in values]
    return pairs, sums[0], sums[1], sums[2]


@each_row(("seed", "tie_share"), [(0, 0.0), (1, 0.2), (2, 0.6)])
def test_strengths_are_those_of_evalica(seed: int, tie_share: float) -> None:
    first, second, outcome = tournament(seed, 3000, tie_share)
    names = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    winners = [names[value] for value in outcome.tolist()]
    oracle = evalica.bradley_terry(
        first.tolist(), second.tolist(), winners, tolerance=1e-14, limit=100_000
    ).scores.sort_index()
    logarithms = np.log(oracle.to_numpy())
    pairs, points, _, battles = counted(first, second, outcome)
    strengths = fit_bradley_terry(pairs, points, battles)[0]
    assert strengths == pytest.approx(logarithms - logarithms.mean(), abs=1e-6)


@each_row("seed", [0, 1, 2])
def test_strengths_are_those_of_choix(seed: int) -> None:
    first, second, outcome = tournament(seed, 3000, 0.0)
    wins = [(i, j) if value == 1 else (j, i) for i, j, value in zip(first, second, outcome, strict=True)]
    oracle = choix.ilsr_pairwise(ITEMS, wins, tol=1e-12)
    pairs, points, _, battles = counted(first, second, outcome)
    strengths = fit_bradley_terry(pairs, points, battles)[0]
    assert strengths == pytest.approx(oracle - oracle.mean(), abs=1e-6)


def test_many_sets_of_counts_are_fitted_as_if_one_by_one() -> None:
    pairs, points, _, battles = counted(*tournament(3, 2000, 0.1))
    rng = np.random.default_rng(0)
    factors = rng.integers(1, 4, (5, len(pairs.first)))
    together = fit_bradley_terry(pairs, points * factors, battles * factors)
    for factor, strengths in zip(factors, together, strict=True):
        alone = fit_bradley_terry(pairs, points * factor, battles * factor)[0]
        assert strengths == pytest.approx(alone, abs=1e-9)


def test_a_ridge_is_the_precision_of_a_normal_prior() -> None:
    pairs, points, _, battles = counted(*tournament(4, 300, 0.0))

    def loss(strengths: np.ndarray) -> float:
        gap = strengths[pairs.first] - strengths[pairs.second]
        likelihood = (points[0] * gap - battles[0] * np.logaddexp(0, gap)).sum()
        return float(0.5 * 0.3 * strengths @ strengths - likelihood)

    oracle = minimize(loss, np.zeros(ITEMS), tol=1e-12).x
    strengths = fit_bradley_terry(pairs, points, battles, ridge=np.array([0.3]))[0]
    assert strengths == pytest.approx(oracle, abs=1e-4)


def test_groups_without_a_common_battle_each_have_mean_zero() -> None:
    pairs = Pairs(np.array([0, 2]), np.array([1, 3]), np.array([0, 0, 1, 1]))
    strengths = fit_bradley_terry(pairs, np.array([[3.0, 1.0]]), np.array([[4.0, 4.0]]))[0]
    half = np.log(3) / 2
    assert strengths == pytest.approx([half, -half, -half, half])


def test_a_chain_of_wins_makes_a_group_and_a_missing_win_splits_it() -> None:
    first, second = np.array([0, 1, 0]), np.array([1, 2, 2])
    wins, losses = np.array([2.0, 2.0, 0.0]), np.array([0.0, 0.0, 2.0])
    assert win_groups(first, second, wins, losses, 3).tolist() == [0, 0, 0]  # 0 > 1 > 2 > 0
    assert win_groups(first, second, np.array([2.0, 2.0, 2.0]), np.zeros(3), 3).tolist() == [0, 1, 2]

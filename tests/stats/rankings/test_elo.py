from __future__ import annotations

import evalica
import numpy as np
import pytest

from hengwen.stats.rankings.pair_models import elo_of_orders, elo_ratings

RNG = np.random.default_rng(0)
FIRST = RNG.integers(0, 6, 500)
SECOND = (FIRST + RNG.integers(1, 6, 500)) % 6
OUTCOMES = RNG.choice([0.0, 0.5, 1.0], 500)


def test_ratings_are_those_of_evalica() -> None:
    names = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    winners = [names[value] for value in OUTCOMES.tolist()]
    oracle = evalica.elo(FIRST.tolist(), SECOND.tolist(), winners).scores.sort_index()
    assert elo_ratings(FIRST, SECOND, OUTCOMES, 6) == pytest.approx(oracle.to_numpy(), abs=1e-6)


def test_several_orders_are_rated_as_if_one_by_one() -> None:
    orders = np.stack([RNG.permutation(500) for _ in range(3)])
    together = elo_of_orders(FIRST, SECOND, OUTCOMES, orders, 6)
    for order, ratings in zip(orders, together, strict=True):
        alone = elo_ratings(FIRST[order], SECOND[order], OUTCOMES[order], 6)
        assert ratings == pytest.approx(alone)

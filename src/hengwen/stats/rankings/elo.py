"""Elo ratings: strengths that are updated after each battle, so that they depend on the order of battles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

INITIAL = 1000.0
BASE = 10.0
SCALE = 400.0
STEP = 4.0
"""Largest number of rating points that a model can gain or lose in one battle (K)."""


def elo_ratings(
    first: NDArray[np.intp], second: NDArray[np.intp], outcomes: NDArray[np.float64], items: int
) -> NDArray[np.float64]:
    """Return the Elo rating of each item after the battles in their order, shape (m,)."""
    ratings = [INITIAL] * items
    for a, b, outcome in zip(first.tolist(), second.tolist(), outcomes.tolist(), strict=True):
        expected = 1 / (1 + BASE ** ((ratings[b] - ratings[a]) / SCALE))
        change = STEP * (outcome - expected)
        ratings[a] += change
        ratings[b] -= change
    return np.array(ratings)


def elo_of_orders(
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    outcomes: NDArray[np.float64],
    orders: NDArray[np.intp],
    items: int,
) -> NDArray[np.float64]:
    """Return the Elo ratings after the battles in several orders, shape (B, m)."""
    ratings = np.full((len(orders), items), INITIAL)
    rows = np.arange(len(orders))
    for battles in orders.T:
        a, b = first[battles], second[battles]
        expected = 1 / (1 + BASE ** ((ratings[rows, b] - ratings[rows, a]) / SCALE))
        change = np.where(battles < 0, 0.0, STEP * (outcomes[battles] - expected))
        ratings[rows, a] += change
        ratings[rows, b] -= change
    return ratings

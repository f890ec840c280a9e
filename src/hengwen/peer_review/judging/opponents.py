"""Choose the pairs of models that are compared on a question.

The choice is all pairs, a number of opponents for each model, or pairs whose order is not yet sure.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from hengwen.records import digest
from hengwen.stats.rankings.rank_intervals import DECIMALS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Pair = tuple[int, int]


def question_pairs(models: int, opponents: int | None, question: str, seed: int) -> list[Pair]:
    """Return the pairs of models that are compared on a question."""
    if opponents is None or opponents >= models - 1:
        return list(combinations(range(models), 2))
    order = np.random.default_rng(int(digest(seed, question)[:16], 16)).permutation(models).tolist()
    # the models stand on a circle in random order; opponents are the nearest models on both sides
    steps = range(1, opponents // 2 + 1)
    pairs = [(order[i], order[(i + step) % models]) for step in steps for i in range(models)]
    if opponents % 2:
        half = models // 2
        pairs += [(order[i], order[i + half]) for i in range(half)]
    return sorted({(min(pair), max(pair)) for pair in pairs})


def uncertain_pairs(
    scores: NDArray[np.float64], resamples: NDArray[np.float64], confidence: float
) -> NDArray[np.float64]:
    """Return for each pair of models the chance that their order is wrong (upper triangle)."""
    scores, resamples = np.round(scores, DECIMALS), np.round(resamples, DECIMALS)
    sign = np.sign(scores[:, None] - scores)
    drawn = np.sign(resamples[:, :, None] - resamples[:, None, :])
    wrong = np.minimum((drawn != sign).mean(axis=0), 0.5)
    wrong[wrong < (1 - confidence) / 2] = 0.0
    wrong[sign == 0] = 0.5  # equal scores have no order
    return np.asarray(np.triu(wrong, 1))


def draw_cells(
    chances: NDArray[np.float64],
    free: Sequence[tuple[int, Pair]],
    count: int,
    rng: np.random.Generator,
) -> list[tuple[int, Pair]]:
    """Draw matches that were not judged yet; a pair is drawn more often if its order is less sure."""
    weights = np.array([chances[pair] for _, pair in free])
    possible = np.flatnonzero(weights)
    if not len(possible):
        return []
    chosen = rng.choice(
        possible,
        size=min(count, len(possible)),
        replace=False,
        p=weights[possible] / weights[possible].sum(),
    )
    return [free[index] for index in sorted(chosen.tolist())]

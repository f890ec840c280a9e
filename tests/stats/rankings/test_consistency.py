from __future__ import annotations

import numpy as np
import pytest

from hengwen.stats.rankings.pair_models import (
    DECAY_EVERY,
    EPOCHS,
    LEARNING_RATE,
    RANK_SCALE,
    JudgedCounts,
    consistency_searches,
)

MODELS = 6


def judged(seed: int) -> JudgedCounts:
    """Return random counts in which better models win and judge better."""
    rng = np.random.default_rng(seed)
    cells = [
        (i, j, k)
        for i in range(MODELS)
        for j in range(i + 1, MODELS)
        for k in range(MODELS)
        if k not in (i, j)
    ]
    first, second, judge = np.array(cells).T
    chance = 1 / (1 + np.exp(-(second - first) * (MODELS - judge) / 6))
    wins = rng.binomial(10, chance).astype(float)
    ties = rng.integers(0, 3, len(cells)).astype(float)
    return JudgedCounts(
        first=first, second=second, judge=judge, wins=wins, losses=10 - wins, ties=ties, items=MODELS
    )


def published_loss(counts: JudgedCounts, weights: np.ndarray, ranks: np.ndarray) -> tuple[float, np.ndarray]:
    """Return 1 - Pearson correlation and the scores, battle by battle as in the published program."""
    scores, battles = np.zeros(MODELS), np.zeros(MODELS)
    rows = zip(
        counts.first, counts.second, counts.judge, counts.wins, counts.losses, counts.ties, strict=True
    )
    for i, j, k, wins, losses, ties in rows:
        scores[i] += weights[k] * (wins * (1 + (ranks[i] - ranks[j]) / RANK_SCALE) + ties / 2)
        scores[j] += weights[k] * (losses * (1 + (ranks[j] - ranks[i]) / RANK_SCALE) + ties / 2)
        battles[[i, j]] += wins + losses + ties
    scores /= battles
    return 1 - float(np.corrcoef(weights, scores)[0, 1]), scores


@pytest.mark.slow
def test_a_search_is_the_published_descent_with_numeric_gradients() -> None:
    counts = judged(0)
    (rng,) = np.random.default_rng(7).spawn(1)
    bound = 1 / np.sqrt(MODELS)
    noise = rng.normal(size=MODELS)
    layer = rng.uniform(-bound, bound, (MODELS, MODELS))
    bias = rng.uniform(-bound, bound, MODELS)
    for epoch in range(EPOCHS):
        logits = layer @ noise + bias
        weights = 1 / (1 + np.exp(-logits))
        ranks = np.argsort(np.argsort(-weights))
        loss, scores = published_loss(counts, weights, ranks)
        slopes = np.empty(MODELS)
        for index in range(MODELS):
            moved = logits + 1e-5 * np.eye(MODELS)[index]
            slopes[index] = (published_loss(counts, 1 / (1 + np.exp(-moved)), ranks)[0] - loss) / 1e-5
        rate = LEARNING_RATE * 0.1 ** (epoch // DECAY_EVERY)
        layer -= rate * np.outer(slopes, noise)
        bias -= rate * slopes
    (search,) = consistency_searches(counts, seed=7, restarts=1)
    assert search.weights == pytest.approx(weights, abs=1e-4)
    assert search.scores == pytest.approx(scores, abs=1e-4)
    assert search.correlation == pytest.approx(1 - loss, abs=1e-3)


def test_a_seed_gives_the_same_result_and_the_first_search_does_not_depend_on_restarts() -> None:
    one, many = (consistency_searches(judged(1), seed=3, restarts=n) for n in (1, 4))
    assert one[0].weights.tolist() == many[0].weights.tolist()
    assert many[0].weights.tolist() != many[1].weights.tolist()


def test_models_that_judge_nothing_do_not_change_the_correlation() -> None:
    counts = judged(2)
    search = consistency_searches(
        JudgedCounts(
            first=counts.first,
            second=counts.second,
            judge=np.zeros(len(counts.judge), int),
            wins=counts.wins,
            losses=counts.losses,
            ties=counts.ties,
            items=MODELS,
        ),
        seed=0,
        restarts=1,
    )[0]
    assert search.correlation == 0  # one judge has no correlation

"""Battles of simulated judges whose quality and tastes are known."""

from __future__ import annotations

import numpy as np

from hengwen.peer_review import Battles


def simulated_battles(
    seed: int,
    discriminations: np.ndarray,
    *,
    models: int = 10,
    questions: int = 40,
    per_question: int = 6,
    tastes: np.ndarray | None = None,
    first: float = 0.0,
    own: float = 0.0,
    both_orders: bool = True,
) -> Battles:
    """Return battles of models ``m00`` (the best), ``m01`` and so on; judge number j is model number j.

    Args:
        seed: Seed.
        discriminations: Discrimination of each judge.
        models: Number of models; their strengths fall from 1 to -1 logits.
        questions: Number of questions; on each, an answer is better or worse than its model.
        per_question: Pairs of models for each question; every judge sees each pair.
        tastes: Logits by which each judge likes each model better than its strength, shape (J, m).
        first: Logits by which judges prefer the first answer.
        own: Logits by which judges prefer their own answers.
        both_orders: Whether each pair is judged in both orders.
    """
    rng = np.random.default_rng(seed)
    judges = len(discriminations)
    quality = np.linspace(1, -1, models) + rng.normal(0, 0.5, (questions, models))
    question = np.repeat(np.arange(questions), per_question)
    pairs = np.array([rng.choice(models, 2, replace=False) for _ in question])
    orders = (1, -1) if both_orders else (1,)
    shape = (len(question), judges, len(orders))
    row, judge, order = (index.ravel() for index in np.indices(shape))
    position_of_a = np.array(orders)[order]
    a, b, q = pairs[row, 0], pairs[row, 1], question[row]
    logit = discriminations[judge] * (quality[q, a] - quality[q, b]) + first * position_of_a
    logit += own * ((judge == a).astype(int) - (judge == b))
    if tastes is not None:
        logit += tastes[judge, a] - tastes[judge, b]
    outcome = (rng.random(len(logit)) < 1 / (1 + np.exp(-logit))).astype(float)
    names = np.array([f"m{index:02d}" for index in range(max(models, judges))])
    return Battles.from_columns(
        model_a=names[a].tolist(),
        model_b=names[b].tolist(),
        judge=names[judge].tolist(),
        question=q.tolist(),
        winner=outcome.tolist(),
        first=["a" if position == 1 else "b" for position in position_of_a.tolist()],
    )

"""Random tournaments of a few battles: every method gives a result that can be written, or says why not."""

from __future__ import annotations

import json
from typing import get_args

import numpy as np
import pytest
from rows import each_row

from hengwen.documents.judges.peer_review import peer_review_document
from hengwen.documents.render.write import to_json
from hengwen.peer_review import Battles, peer_review
from hengwen.peer_review.estimates import judge_bt
from hengwen.peer_review.estimates.votes import RankingMethod

REASONS = ("a judge is none of the models", "none is left to count", "no match is left")
"""Beginnings of the errors that say why there is no ranking."""


def tournament(seed: int) -> Battles:
    """Return up to 24 battles of up to 5 models: random, all ties, or won by the lower number."""
    rng = np.random.default_rng(seed)
    limits = ((2, 6), (1, 5), (1, 6), (1, 25))
    models, judges, questions, rows = (int(rng.integers(low, high)) for low, high in limits)
    a = rng.integers(0, models, rows)
    b = (a + rng.integers(1, models, rows)) % models
    winners = (rng.choice([0.0, 0.5, 1.0], rows), np.full(rows, 0.5), (a < b).astype(float))
    lengths = rng.lognormal(3, 1, (2, rows)) if seed % 3 == 0 else (None, None)
    return Battles.from_columns(
        model_a=a,
        model_b=b,
        judge=rng.integers(0, judges, rows) + 3 * (seed % 2),
        question=rng.integers(0, questions, rows),
        winner=winners[seed % 4 % 3],
        first=rng.choice(["a", "b", ""], rows).tolist(),
        length_a=lengths[0],
        length_b=lengths[1],
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", get_args(RankingMethod))
def test_every_small_tournament_has_a_result_or_a_reason(
    method: RankingMethod, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviews, errors = [], []
    for seed in range(24):
        monkeypatch.setattr(judge_bt, "MAX_EXACT", 0 if seed % 5 == 0 else 2_000_000)
        try:
            reviews.append(peer_review(tournament(seed), method=method, n_boot=20))
        except ValueError as error:
            errors.append(str(error))
    assert len(reviews) >= 6
    assert [message for message in errors if not any(reason in message for reason in REASONS)] == []
    for review in reviews:
        for model in json.loads(to_json(peer_review_document(review)))["models"]:
            assert model["ranks"][0] <= model["rank"] <= model["ranks"][1]
            assert model["wins"] + model["losses"] + model["ties"] == model["matches"] > 0


@pytest.mark.slow
@each_row("method", [method for method in get_args(RankingMethod) if method != "consistency"])
def test_judges_whose_verdicts_all_conflict_see_ties(method: RankingMethod) -> None:
    battles = Battles.from_columns(
        model_a=["x", "x"] * 6,
        model_b=["y", "y"] * 6,
        winner=["a", "b"] * 6,
        first=["a", "b"] * 6,
        judge=["i", "i", "j", "j", "k", "k"] * 2,
        question=[1] * 6 + [2] * 6,
    )
    review = peer_review(battles, method=method, n_boot=20)
    assert [model.rank for model in review.models] == [1, 1]
    assert [model.ties for model in review.models] == [6, 6]
    assert [judge.conflicts for judge in review.judges] == [1.0] * 3

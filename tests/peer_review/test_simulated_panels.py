"""Panels of judges whose quality is known: when weights help, when they do not, and whether notes say so."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from rows import each_row
from scipy.stats import kendalltau
from tests.peer_review.simulated_panel import simulated_battles

from hengwen.peer_review import PeerReview, peer_review

SEEDS = range(6)
MODELS = 10
GOOD_AND_BAD = np.array([3.0, 2.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])


def reviews(
    method: str,
    discriminations: np.ndarray,
    *,
    seeds: range = SEEDS,
    **options,
) -> list[PeerReview]:
    return [review(seed, method, tuple(discriminations), **options) for seed in seeds]


@functools.cache
def review(seed: int, method: str, discriminations: tuple[float, ...], **options) -> PeerReview:
    """Return a review of simulated battles, the same one to each test that asks for it."""
    if (tastes := options.pop("tastes", None)) is not None:
        options["tastes"] = np.array(tastes)
    battles = simulated_battles(seed, np.array(discriminations), **options)
    return peer_review(battles, method=method, n_boot=20)


def mean_tau(results: list[PeerReview]) -> float:
    """Return the mean tau between rankings and the true order of the models, which is that of their names."""
    return float(
        np.mean(
            [
                kendalltau([-int(m.name[1:]) for m in r.models], [m.score for m in r.models])[0]
                for r in results
            ]
        )
    )


def share_with(results: list[PeerReview], *codes: str) -> float:
    """Return the share of results with at least one of the notes."""
    return float(np.mean([any(note.code in codes for note in result.notes) for result in results]))


@pytest.mark.slow
def test_weights_beat_the_uniform_vote_if_judges_differ_in_quality() -> None:
    weighted, uniform = (reviews(method, GOOD_AND_BAD) for method in ("judge-bt", "uniform"))
    assert mean_tau(weighted) > mean_tau(uniform) + 0.04
    assert share_with(weighted, "judges differ") == 1
    for result in weighted:
        assert [judge.name for judge in result.judges[:2]] == ["m00", "m01"]


@pytest.mark.slow
def test_consistency_weights_beat_the_uniform_vote_if_the_best_models_are_the_best_judges() -> None:
    weighted, uniform = (
        reviews(method, GOOD_AND_BAD, seeds=range(16)) for method in ("consistency", "uniform")
    )
    assert mean_tau(weighted) > mean_tau(uniform) + 0.01
    assert share_with(weighted, "restarts") == 1


@pytest.mark.slow
def test_if_judges_are_alike_the_result_says_that_weights_do_not_help() -> None:
    weighted, uniform = (reviews(method, np.ones(6)) for method in ("judge-bt", "uniform"))
    assert abs(mean_tau(weighted) - mean_tau(uniform)) < 0.05
    assert share_with(weighted, "judges alike") >= 0.8


def test_few_verdicts_that_show_no_difference_do_not_show_that_weights_are_useless() -> None:
    weighted = reviews("judge-bt", GOOD_AND_BAD, seeds=range(1), questions=12)
    (note,) = (note for note in weighted[0].notes if note.code == "judges alike")
    assert "these verdicts do not support weights" in note.en
    assert "同样好" not in note.zh


@pytest.mark.slow
def test_common_errors_of_a_majority_are_reported_where_weights_make_them_worse() -> None:
    taste = np.zeros((8, MODELS))
    taste[:5] = np.random.default_rng(9).normal(0, 1.5, MODELS)
    weighted, plain = (
        reviews(method, np.ones(8), tastes=tuple(map(tuple, taste)))
        for method in ("judge-bt", "bradley-terry")
    )
    assert mean_tau(weighted) < mean_tau(plain)  # the majority gets the larger weights
    assert share_with(weighted, "common taste", "clique") == 1
    assert share_with(weighted, "judges differ") == 0


@pytest.mark.slow
def test_a_clique_that_favours_itself_is_reported() -> None:
    taste = np.zeros((MODELS, MODELS))
    taste[7:, 7:] = 1.5
    clique = reviews("judge-bt", np.ones(MODELS), tastes=tuple(map(tuple, taste)))
    assert share_with(clique, "clique") >= 0.5
    assert share_with(clique, "clique", "common taste") == 1
    named = next(note for result in clique for note in result.notes if note.code == "clique")
    assert "m07, m08, m09" in named.en
    honest = reviews("judge-bt", np.ones(MODELS))
    assert share_with(honest, "clique", "common taste") == 0


@pytest.mark.slow
def test_differences_in_quality_alone_are_no_common_taste() -> None:
    assert share_with(reviews("judge-bt", GOOD_AND_BAD), "clique", "common taste") == 0


@pytest.mark.slow
@each_row("method", ["judge-bt", "bradley-terry", "uniform"])
def test_rank_intervals_contain_the_true_rank(method: str) -> None:
    results = reviews(method, np.ones(4), questions=30, per_question=10)
    held = [
        model.ranks[0] <= int(model.name[1:]) + 1 <= model.ranks[1] for r in results for model in r.models
    ]
    assert np.mean(held) >= 0.95


def test_position_and_own_preference_are_measured_and_do_not_move_the_ranking() -> None:
    battles = simulated_battles(0, np.ones(4), models=8, questions=60, per_question=12, first=1.0, own=2.0)
    result = peer_review(battles, n_boot=20)
    for judge in result.judges:
        assert judge.first_share is not None
        assert judge.first_share == pytest.approx(0.69, abs=0.06)
        assert judge.first_interval[0] > 0.5
        assert judge.own_share > judge.own_others + 0.1
        assert judge.own_interval[0] > 0
        assert judge.consistent < 0.7
    scores = {model.name: model.score for model in result.models}
    fair = peer_review(simulated_battles(0, np.ones(4), models=8, questions=60, per_question=12), n_boot=20)
    fair_scores = {model.name: model.score for model in fair.models}
    for name, score in scores.items():
        assert score == pytest.approx(fair_scores[name], abs=0.35)


def test_a_judge_that_prefers_the_worse_answer_is_named() -> None:
    battles = simulated_battles(1, np.array([1.5, 1.5, 1.5, -1.5]), questions=60)
    result = peer_review(battles, n_boot=20)
    assert result.judges[-1].name == "m03"
    assert result.judges[-1].weight < 0
    assert any(note.code == "reversed judge" and note.en.startswith("m03 prefers") for note in result.notes)

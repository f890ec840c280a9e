from __future__ import annotations

import numpy as np
import pytest
from rows import each_row
from tests.peer_review.simulated_panel import simulated_battles
from threadpoolctl import threadpool_info, threadpool_limits

from hengwen.peer_review import Battles, peer_review
from hengwen.peer_review.estimates import judge_bt
from hengwen.peer_review.estimates.evidence import Evidence, ReviewOptions, build_estimate
from hengwen.peer_review.estimates.votes import drawn_questions
from hengwen.peer_review.verdicts import distinct_verdicts

METHODS = ("uniform", "judge-bt", "bradley-terry")
DISCRIMINATIONS = np.array([1.5, 1.0, 0.5, 1.0])


def by_name(battles: Battles, method: str, **options) -> dict[str, float]:
    return peer_review(battles, method=method, n_boot=20, **options).scores


def test_a_review_computes_with_one_thread_of_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    def threads() -> dict[str, int]:
        blas = (pool for pool in threadpool_info() if pool["user_api"] == "blas")
        return {pool["filepath"]: pool["num_threads"] for pool in blas}

    within: dict[str, int] = {}
    monkeypatch.setattr("hengwen.peer_review.review.collect_notes", lambda _: within.update(threads()) or ())
    with threadpool_limits(2, "blas"):
        before = threads()
        by_name(simulated_battles(0, DISCRIMINATIONS, models=4, questions=6, per_question=6), "judge-bt")
    assert before
    assert set(before.values()) == {2}
    assert {within[path] for path in before} == {1}


@pytest.mark.slow
@each_row("method", METHODS)
def test_weights_of_a_resample_count_like_copies_of_its_questions(method: str) -> None:
    battles = simulated_battles(0, DISCRIMINATIONS, models=6, questions=12, per_question=10)
    verdicts = distinct_verdicts(battles)
    judges = np.array([battles.models.index(name) for name in battles.judges])
    size = (len(battles.models), 12)
    estimate = build_estimate(method, verdicts, judges, size)
    weights = drawn_questions(12, 2, seed=3)
    for drawn, scores in zip(weights.astype(int), estimate.resample(weights), strict=True):
        copies = np.repeat(np.arange(12), drawn)
        index = np.concatenate([np.flatnonzero(battles.question == question) for question in copies])
        sizes = [int((battles.question == question).sum()) for question in copies]
        copied = Battles.from_columns(
            model_a=np.array(battles.models)[battles.model_a[index]],
            model_b=np.array(battles.models)[battles.model_b[index]],
            judge=np.array(battles.judges)[battles.judge[index]],
            winner=battles.outcome[index],
            first=battles.first[index],
            question=np.repeat(np.arange(len(copies)), sizes),
        )
        judges = np.array([copied.models.index(name) for name in copied.judges])
        alone = build_estimate(method, distinct_verdicts(copied), judges, (len(copied.models), len(copies)))
        assert dict(zip(battles.models, scores, strict=True)) == pytest.approx(
            dict(zip(copied.models, alone.scores, strict=True)), abs=2e-3
        )


def test_one_newton_step_is_close_to_the_fit_of_each_resample(monkeypatch: pytest.MonkeyPatch) -> None:
    battles = simulated_battles(1, DISCRIMINATIONS, models=6, questions=150, per_question=10)
    exact = peer_review(battles, n_boot=100)
    monkeypatch.setattr(judge_bt, "MAX_EXACT", 0)
    one_step = peer_review(battles, n_boot=100)
    assert "one step" in {note.code for note in one_step.notes} - {note.code for note in exact.notes}
    for fitted, stepped in zip(exact.models, one_step.models, strict=True):
        assert (fitted.name, fitted.score) == (stepped.name, stepped.score)
        assert stepped.interval == pytest.approx(fitted.interval, abs=0.25 * fitted.error)


def crowd(judges: int, verdicts: int) -> Battles:
    """Return battles of eight models by a crowd; a judge's number of verdicts falls with its number."""
    rng = np.random.default_rng(0)
    strength = np.linspace(1.5, -1.5, 8)
    shares = 1 / np.arange(1, judges + 1) ** 1.6
    judge = rng.choice(judges, verdicts, p=shares / shares.sum())
    first = rng.integers(0, 8, verdicts)
    second = (first + rng.integers(1, 8, verdicts)) % 8
    wins = rng.random(verdicts) < 1 / (1 + np.exp(strength[second] - strength[first]))
    return Battles.from_columns(
        model_a=[f"m{model}" for model in first],
        model_b=[f"m{model}" for model in second],
        judge=[f"j{number}" for number in judge],
        question=rng.integers(0, 100, verdicts).tolist(),
        winner=wins.astype(float).tolist(),
    )


def test_resamples_of_a_crowd_lie_around_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fitted resamples of judges with few verdicts lie further apart than the fit of all data."""

    def spread() -> float:
        evidence = Evidence(
            crowd(25, 1500),
            ReviewOptions(method="judge-bt", exclude_self=False, n_boot=60, confidence=0.95, seed=0),
        )
        assert evidence.resamples is not None
        return float(evidence.resamples.std(axis=1).mean() / evidence.estimate.scores.std())

    assert spread() == pytest.approx(1, abs=0.05)
    monkeypatch.setattr(judge_bt, "MANY_JUDGES", 1000)
    assert spread() > 1.1


def test_a_review_by_a_crowd_says_how_its_resamples_are_computed() -> None:
    codes = {note.code for note in peer_review(crowd(25, 1500), n_boot=20).notes}
    assert "few verdicts" in codes
    assert "one step" not in codes
    assert "few verdicts" not in {note.code for note in peer_review(crowd(5, 1500), n_boot=20).notes}


@pytest.mark.slow
@each_row("method", METHODS)
def test_standard_errors_are_those_of_the_resamples(method: str) -> None:
    battles = simulated_battles(2, DISCRIMINATIONS, models=5, questions=200, per_question=5)
    result = peer_review(battles, method=method, n_boot=400)
    for model in result.models:
        width = (model.interval[1] - model.interval[0]) / (2 * 1.96)
        assert model.error == pytest.approx(width, rel=0.2)


def test_errors_grow_if_the_questions_are_fewer_but_the_verdicts_as_many() -> None:
    battles = simulated_battles(3, np.ones(3), models=5, questions=20, per_question=30)
    clustered = peer_review(battles, method="bradley-terry", n_boot=20)
    spread = Battles.from_columns(
        model_a=np.array(battles.models)[battles.model_a],
        model_b=np.array(battles.models)[battles.model_b],
        judge=np.array(battles.judges)[battles.judge],
        winner=battles.outcome,
    )
    independent = peer_review(spread, method="bradley-terry", n_boot=20)
    assert clustered.models[0].error > 1.3 * independent.models[0].error


@pytest.mark.slow
@each_row("method", [*METHODS, "consistency"])
def test_a_seed_repeats_the_result(method: str) -> None:
    battles = simulated_battles(4, DISCRIMINATIONS, models=5, questions=10)
    assert peer_review(battles, method=method, n_boot=20) == peer_review(battles, method=method, n_boot=20)


@pytest.mark.slow
@each_row("method", METHODS)
def test_the_order_of_battles_and_of_sides_does_not_matter(method: str) -> None:
    battles = simulated_battles(5, DISCRIMINATIONS, models=5, questions=30, per_question=1)
    assert distinct_verdicts(battles).duplicates == 0  # of duplicates, the first would count
    order = np.random.default_rng(0).permutation(len(battles))
    models, judges = np.array(battles.models), np.array(battles.judges)
    turned = Battles.from_columns(
        model_a=models[battles.model_b[order]],
        model_b=models[battles.model_a[order]],
        judge=judges[battles.judge[order]],
        question=battles.question[order],
        winner=1 - battles.outcome[order],
        first=-battles.first[order],
    )
    assert by_name(turned, method) == pytest.approx(by_name(battles, method), abs=1e-4)

"""Tournaments without an ordinary answer: each is defined, and a note explains it."""

from __future__ import annotations

from itertools import combinations
from typing import get_args

import pytest
from rows import each_row

from hengwen.peer_review import Battles, PeerReview, peer_review
from hengwen.peer_review.estimates.votes import RankingMethod

METHODS = tuple(method for method in get_args(RankingMethod) if method != "consistency")


def review(rows: list[tuple[str, str, str]], questions: int = 20, judges: int = 1, **options) -> PeerReview:
    """Return the review of (model a, model b, winner) rows, each a turn of every question for every judge."""
    turn = [number for number in range(1, len(rows) + 1) for _ in range(questions * judges)]
    rows = [row for row in rows for _ in range(questions * judges)]
    cells = [(question, judge) for question in range(questions) for judge in range(judges)]
    question, judge = zip(*cells * (len(rows) // len(cells)), strict=True)
    model_a, model_b, winner = zip(*rows, strict=True)
    battles = Battles.from_columns(
        model_a=model_a,
        model_b=model_b,
        winner=winner,
        question=question,
        judge=[f"judge {name}" for name in judge],
        turn=turn,
    )
    result = peer_review(battles, n_boot=40, **options)
    assert result.duplicates == 0
    return result


def codes(result: PeerReview) -> set[str]:
    return {note.code for note in result.notes}


@pytest.mark.slow
@each_row("method", METHODS)
def test_groups_without_a_common_battle_are_not_compared(method: RankingMethod) -> None:
    result = review([("a", "b", "a"), ("a", "b", "b"), ("c", "d", "tie")], method=method, judges=3)
    assert "disconnected" in codes(result)
    by_name = {model.name: model for model in result.models}
    assert by_name["a"].group == by_name["b"].group != by_name["c"].group == by_name["d"].group
    assert all(model.ranks[1] - model.ranks[0] >= 2 for model in result.models)
    (note,) = (note for note in result.notes if note.code == "disconnected")
    assert "a, b; c, d" in note.en
    assert "a、b；c、d" in note.zh


@pytest.mark.slow
@each_row("method", METHODS)
def test_a_model_that_wins_everything_is_first_with_a_finite_score(method: RankingMethod) -> None:
    rows = [("a", "b", "a"), ("a", "c", "a"), ("b", "c", "a"), ("b", "c", "b")]
    result = review(rows, method=method, judges=3)
    first = result.models[0]
    assert (first.name, first.rank, first.ranks) == ("a", 1, (1, 1))
    assert abs(first.score) < 2000
    if method in ("judge-bt", "bradley-terry"):
        (note,) = (note for note in result.notes if note.code == "infinite")
        assert note.en.startswith("a won every match against the other models")
        assert "b, c lost every match against the others" in note.en
        assert "a对其余模型从未输过或平过，b、c对其余模型从未赢过或平过" in note.zh


def test_who_lost_to_the_best_alone_did_not_lose_every_match() -> None:
    result = review([("a", "b", "a"), ("b", "c", "a"), ("c", "b", "a")], method="bradley-terry")
    (note,) = (note for note in result.notes if note.code == "infinite")
    assert note.en.startswith("a won every match against the other models, b, c lost every match against the")
    assert "is known" not in note.en


@pytest.mark.slow
@each_row("method", METHODS)
def test_if_every_match_is_a_tie_all_models_share_rank_one(method: RankingMethod) -> None:
    result = review([(a, b, "tie") for a, b in combinations("abc", 2)], method=method, judges=3)
    assert [(model.rank, model.ranks) for model in result.models] == [(1, (1, 3))] * 3
    assert "all ties" in codes(result)


@each_row("method", METHODS)
def test_one_judge_is_ranked_by_and_named_in_a_note(method: RankingMethod) -> None:
    result = review([("a", "b", "a"), ("a", "b", "a"), ("b", "a", "a")], method=method)
    assert [model.name for model in result.models] == ["a", "b"]
    assert "one judge" in codes(result)
    assert result.judges_differ_p is None


def test_with_fewer_than_three_judges_all_count_alike_by_default() -> None:
    rows = [("a", "b", "a"), ("b", "c", "a"), ("c", "a", "a")]
    assert review(rows, judges=2).method == "bradley-terry"
    assert review(rows, judges=3).method == "judge-bt"
    assert "two judges" in codes(review(rows, judges=2))


@each_row("method", METHODS)
def test_with_one_question_there_are_no_intervals_and_every_rank_is_possible(method: RankingMethod) -> None:
    rows = [("a", "b", "a"), ("b", "c", "a"), ("a", "c", "b")]
    result = review(rows, questions=1, method=method, judges=3)
    assert [(model.interval, model.ranks) for model in result.models] == [(None, (1, 3))] * 3
    assert (result.resamples, result.questions) == (0, 1)
    assert "one question" in codes(result)


def test_judges_without_weights_have_none() -> None:
    assert all(judge.weight is None for judge in review([("a", "b", "a")], judges=3, method="uniform").judges)


def test_a_model_that_only_judged_itself_has_no_rank() -> None:
    battles = Battles.from_columns(
        model_a=["a", "b", "b"] * 9,
        model_b=["b", "c", "c"] * 9,
        winner=["a", "a", "b"] * 9,
        judge=["a"] * 27,
        question=[index // 3 for index in range(27)],
    )
    result = peer_review(battles, n_boot=20)
    assert {model.name for model in result.models} == {"b", "c"}
    assert (result.unranked, result.own_left_out) == (("a",), 9)
    assert {"own answers", "unranked"} <= codes(result)


def league(rows: list[tuple[str, str, str, str, str, int]]) -> Battles:
    """Return battles from (model a, model b, winner, judge, first, question) rows."""
    model_a, model_b, winner, judge, first, question = zip(*rows, strict=True)
    return Battles.from_columns(
        model_a=model_a, model_b=model_b, winner=winner, judge=judge, first=first, question=question
    )


@pytest.mark.slow
@each_row("method", METHODS)
def test_a_model_with_matches_on_one_question_has_no_interval_and_any_rank(method: RankingMethod) -> None:
    rows = [("x", "y", "a", judge, "", question) for question in range(12) for judge in "ijk"]
    rows += [("z", "y", "a", judge, "", 0) for judge in "ijk"]
    result = peer_review(league(rows), method=method, n_boot=40)
    models = {model.name: model for model in result.models}
    assert (models["z"].interval, models["z"].ranks) == (None, (1, 3))
    assert models["x"].interval is not None
    assert models["y"].ranks[1] == 3
    assert [models[name].ranks[0] for name in "xy"] == [1, 2]


def test_resamples_without_a_model_do_not_count_for_its_interval() -> None:
    rows = [("x", "y", "a", "j", "", question) for question in range(20)]
    rows += [("z", "y", "a", "j", "", question) for question in range(2)]
    (z,) = (
        model for model in peer_review(league(rows), method="uniform", n_boot=100).models if model.name == "z"
    )
    assert z.interval == (1.0, 1.0)


def test_only_own_verdicts_leave_nothing_to_count() -> None:
    battles = Battles.from_columns(model_a=["a"], model_b=["b"], winner=["a"], judge=["a"])
    with pytest.raises(ValueError, match="every verdict is of a judge on its own answer"):
        peer_review(battles)


def test_a_conflict_between_the_two_orders_is_a_tie() -> None:
    columns = {"model_a": ["a", "a"], "model_b": ["b", "b"], "question": ["q", "q"], "first": ["a", "b"]}
    battles = Battles.from_columns(winner=["a", "b"], judge=["j", "j"], **columns)
    assert peer_review(battles).models[0].ties == 1


def test_consistency_needs_judges_that_are_models() -> None:
    with pytest.raises(ValueError, match="a judge is none of the models"):
        review([("a", "b", "a")], method="consistency")


@each_row(
    ("options", "message"),
    [
        ({"n_boot": 5}, "n_boot must be a whole number >= 20, got 5"),
        ({"method": "best"}, "method must be one of judge-bt, bradley-terry"),
        ({"confidence": 1.0}, "confidence must be between 0 and 1"),
    ],
)
def test_options_out_of_range_are_named(options: dict, message: str) -> None:
    battles = Battles.from_columns(model_a=["a"], model_b=["b"], winner=["a"])
    with pytest.raises(ValueError, match=message):
        peer_review(battles, **options)

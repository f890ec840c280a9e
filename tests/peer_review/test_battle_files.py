from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hengwen.errors import DataError
from hengwen.peer_review import (
    Battles,
    compare_with_human,
    peer_review,
    read_battles,
    read_human_ranking,
)

PAIR = {
    "question_id": 81,
    "model_1": "alpaca",
    "model_2": "vicuna",
    "g1_winner": "model_2",
    "g2_winner": "tie",
    "judge": ["gpt-4", "pair-v2"],
    "g1_judgment": "[[B]]",
    "g2_judgment": "[[C]]",
    "turn": 1,
    "tstamp": 1687.5,
}
"""A row of FastChat's and PiCO's format."""


def jsonl(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_a_judgment_of_fastchat_is_two_verdicts(tmp_path: Path) -> None:
    second_turn = {**PAIR, "g1_winner": "error", "g2_winner": "model_1", "turn": 2, "judge": "claude"}
    files = read_battles([jsonl(tmp_path / "gpt-4_pair.jsonl", PAIR, second_turn)])
    battles = files.battles
    assert (battles.models, battles.judges, battles.questions) == (
        ("alpaca", "vicuna"),
        ("gpt-4", "claude"),
        ("81",),
    )
    assert battles.outcome.tolist() == [0.0, 0.5, 1.0]
    assert battles.first.tolist() == [1, -1, -1]
    assert battles.turn.tolist() == [1, 1, 2]
    assert files.failures == 1


def test_plain_battles_are_read_from_jsonl_and_csv(tmp_path: Path) -> None:
    row = {"model_a": "x", "model_b": "y", "winner": "b", "judge": "j", "question": "q", "first": "b"}
    from_jsonl = read_battles([jsonl(tmp_path / "a.jsonl", row, {**row, "winner": "error"})])
    table = tmp_path / "a.csv"
    table.write_text("model_a,model_b,winner,judge,question,first\nx,y,b,j,q,b\nx,y,error,j,q,a\n", "utf-8")
    from_csv = read_battles([table])
    for files in (from_jsonl, from_csv):
        assert files.failures == 1
        assert (files.battles.outcome.tolist(), files.battles.first.tolist()) == ([0.0], [-1])


def test_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    plain = {"model_a": "alpaca", "model_b": "koala", "winner": "tie", "question_id": 82}
    files = read_battles([jsonl(tmp_path / "a.jsonl", PAIR), jsonl(tmp_path / "b.jsonl", plain)])
    assert files.battles.models == ("alpaca", "vicuna", "koala")
    assert files.battles.judges == ("gpt-4", "judge")


def test_lengths_are_used_only_if_all_are_known(tmp_path: Path) -> None:
    row = {"model_a": "x", "model_b": "y", "winner": "a", "question": "q", "length_a": 5, "length_b": 7}
    known = read_battles([jsonl(tmp_path / "a.jsonl", row, {**row, "question": "r"})]).battles
    assert known.length_b is not None
    assert known.length_b.tolist() == [7.0, 7.0]
    partly = jsonl(tmp_path / "b.jsonl", row, {**row, "question": "r", "length_a": None})
    assert read_battles([partly]).battles.length_a is None


def test_annotations_of_alpaca_eval_are_weights(tmp_path: Path) -> None:
    row = {"instruction": "Write a poem. " * 9, "generator_1": "base", "generator_2": "new", "output_1": "a"}
    preferences = [1, 2, 1.25, 1.5, 0, None]
    rows = [
        {**row, "output_2": "b" * i, "preference": p, "annotator": f"j{i}"} for i, p in enumerate(preferences)
    ]
    path = tmp_path / "annotations.json"
    path.write_text(
        json.dumps([{**row, "instruction": row["instruction"] + row["annotator"]} for row in rows])
    )
    files = read_battles([path])
    assert files.battles.outcome.tolist() == [1.0, 0.0, 0.75, 0.5, 0.5]
    assert (files.failures, len(files.battles.questions)) == (1, 5)
    path.write_text(json.dumps([{**rows[0], "preference": 3}]))
    with pytest.raises(DataError, match="a preference is 1"):
        read_battles([path])


def test_columns_with_other_names_are_named(tmp_path: Path) -> None:
    table = tmp_path / "votes.csv"
    table.write_text("left,right,prompt_id,human_winner\nx,y,q,y\nx,y,r,0.25\n", "utf-8")
    columns = [("model_a", "left"), ("model_b", "right"), ("winner", "human_winner")]
    assert read_battles([table], columns).battles.outcome.tolist() == [0.0, 0.25]
    with pytest.raises(DataError, match="no column of model_a; .*name it: --columns model_a=COLUMN"):
        read_battles([table])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"g1_winner": "model_3"},
            "field 'g1_winner' must be one of 'model_1', 'model_2', 'tie', 'error', got",
        ),
        ({"g1_winner": ["model_1"]}, "field 'g1_winner' must be text, got list"),
        ({"model_2": "alpaca"}, "model 'alpaca' battles itself: 'model_1' and 'model_2' are equal"),
        ({"model_1": ""}, "field 'model_1' is missing"),
        ({"judge": []}, "field 'judge' must be a name, or a list that begins with a name"),
        ({"judge": [7]}, "field 'judge' must be a name, or a list that begins with a name"),
        ({"question_id": None}, "field 'question_id' is missing"),
        ({"turn": 0}, "field 'turn' counts from 1, got 0"),
    ],
)
def test_a_wrong_judgment_names_file_and_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = jsonl(tmp_path / "p.jsonl", PAIR, {**PAIR, **change})
    with pytest.raises(DataError) as caught:
        read_battles([path])
    assert str(caught.value).startswith(f"{path}:2: {message}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"winner": "z"}, "field 'winner' must be one of 'a', 'b', 'tie', 'model_a', 'model_b', "),
        ({"winner": ""}, "field 'winner' is missing (it is empty)"),
        ({"question": ""}, "field 'question' is missing (it is empty)"),
        ({"first": "left"}, "field 'first' must be one of 'a', 'b', '', got 'left'"),
        ({"model_b": "x"}, "model 'x' battles itself: 'model_a' and 'model_b' are equal"),
        ({"length_a": -1, "length_b": 2}, "field 'length_a' must be 0 or above, got -1"),
        ({"length_a": "long", "length_b": 2}, "field 'length_a' must be a number, got 'long'"),
    ],
)
def test_a_wrong_battle_names_file_and_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    row = {"model_a": "x", "model_b": "y", "winner": "a", "question": "q"}
    path = jsonl(tmp_path / "p.jsonl", row, {**row, **change})
    with pytest.raises(DataError) as caught:
        read_battles([path])
    assert str(caught.value).startswith(f"{path}:2: {message}")


def test_a_misspelled_column_is_named(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "p.jsonl", {"model_a": "x", "model_b": "y", "winer": "a", "question": "q"})
    with pytest.raises(DataError, match="no column of winner; did you mean 'winer'"):
        read_battles([path])
    path = jsonl(
        tmp_path / "q.jsonl", {"model_a": "x", "model_b": "y", "winner": "a", "question": "q", "frist": "a"}
    )
    with pytest.raises(DataError, match="unknown field 'frist'; did you mean 'first'"):
        read_battles([path])


def test_a_file_of_failures_has_no_verdict(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "p.jsonl", {**PAIR, "g1_winner": "error", "g2_winner": "error"})
    with pytest.raises(DataError, match="no verdict: the judge failed on all 2; judge these battles again"):
        read_battles([path])
    with pytest.raises(ValueError, match="there are no files of battles; pass at least one"):
        read_battles([])


def test_a_human_ranking_has_scores_or_ranks(tmp_path: Path) -> None:
    scores, ranks = tmp_path / "scores.csv", tmp_path / "ranks.csv"
    scores.write_text("model,score\nx,1200\ny,900.5\n", "utf-8")
    ranks.write_text("model,rank\nx,1\ny,2\n", "utf-8")
    assert read_human_ranking(scores) == {"x": 1200.0, "y": 900.5}
    assert read_human_ranking(ranks) == {"x": -1.0, "y": -2.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,score\nx,1\nx,2\n", ":3: model 'x' occurs twice"),
        ("model,score,rank\nx,1,1\n", ":2: a row needs either 'score' or 'rank', got score and rank"),
        ("model,elo\nx,1\n", ":2: a row needs either 'score' or 'rank', got neither"),
        ("model,score\nx,best\n", ":2: field 'score' must be a number, got 'best'"),
    ],
)
def test_a_wrong_human_ranking_names_the_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "human.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError) as caught:
        read_human_ranking(path)
    assert str(caught.value) == f"{path}{message}"


BATTLES = Battles.from_columns(
    model_a=["x", "x", "y", "x"],
    model_b=["y", "y", "z", "y"],
    winner=["a", "a", "a", "b"],
    judge=["i", "j", "i", "k"],
    question=["q", "q", "q", "q"],
)


def test_a_review_is_compared_with_people_over_the_models_of_both() -> None:
    review = peer_review(BATTLES, method="uniform", n_boot=20)
    comparison = compare_with_human(review, {"x": 3, "y": 2, "z": 1, "w": 9})
    assert (comparison.ranking.n, comparison.ranking.cin, comparison.ranking.lis) == (3, 0, 3)
    assert (comparison.only_human, comparison.only_review) == (("w",), ())
    with pytest.raises(ValueError, match="at least 2 models that both rankings have, got 1"):
        compare_with_human(review, {"x": 3, "w": 9})

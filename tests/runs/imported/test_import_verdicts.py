"""Verdicts on pairs of answers become runs whose mean is a win rate."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

from hengwen import compare_runs, import_verdicts, open_store
from hengwen.errors import ConfigError, DataError
from hengwen.peer_review.battle_files import stored_battles
from hengwen.results.aggregate import aggregate

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "published"


@pytest.fixture
def store():
    with open_store("sqlite://") as opened:
        yield opened


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def rates(store, result) -> dict[str, float | None]:
    names = {run.id: run.checkpoint for run in result.runs}
    return {names[key.run_id]: item.mean for key, item in aggregate(store.table(result.runs)).items()}


def test_wins_over_the_common_model_are_scores_and_what_names_no_winner_is_a_failure(
    store, tmp_path: Path
) -> None:
    text = "model_a,model_b,question,winner\nbase,v1,1,b\nbase,v2,1,0.25\nv2,base,2,Garbage\nv1,base,2,tie\n"
    result = import_verdicts(write(tmp_path / "p.csv", text), store, judge="g")
    assert rates(store, result) == {"v1": 0.75, "v2": 0.75}
    assert (result.scores, dict(result.failures)) == (3, {"parse_error": 1})
    assert "the share of wins over base" in result.notes
    assert all("|over:base|" in row.outcome.signature for row in store.rows(result.runs))


def test_without_a_common_model_the_rate_is_over_all_opponents_and_battles_are_kept(
    store, tmp_path: Path
) -> None:
    text = (
        "model_a,model_b,prompt_id,winner,first\nx,y,1,a,a\nx,y,1,b,b\ny,z,1,a,a\nz,x,2,error,a\nz,x,1,b,a\n"
    )
    result = import_verdicts(write(tmp_path / "p.csv", text), store, judge="g")
    assert rates(store, result) == {"x": pytest.approx(2 / 3), "y": pytest.approx(2 / 3), "z": 0}
    data = stored_battles(store)
    assert data.failures == 1
    pairs = {
        (data.battles.models[a], data.battles.models[b], outcome, first)
        for a, b, outcome, first in zip(
            data.battles.model_a, data.battles.model_b, data.battles.outcome, data.battles.first, strict=True
        )
    }
    assert pairs == {("x", "y", 1.0, 1), ("x", "y", 0.0, -1), ("y", "z", 1.0, 1), ("z", "x", 0.0, 1)}


def test_numbers_that_are_no_weights_need_their_meaning(store, tmp_path: Path) -> None:
    file = write(tmp_path / "p.csv", "model_a,model_b,id,winner\nx,y,1,1\nx,y,2,2\nx,y,3,0\n")
    with pytest.raises(DataError, match=r"p\.csv:3: a winner in numbers lies in 0\.\.1, got 2"):
        import_verdicts(file, store)
    result = import_verdicts(file, store, winners={"1": "a", "2": "b", "0": "tie"}, baseline="y")
    assert rates(store, result) == {"x": 0.5}
    with pytest.raises(ConfigError, match="no field 'winer'; did you mean 'winner'"):
        import_verdicts(file, store, columns={"winer": "winner"})


def test_judgments_of_fastchat_in_both_orders_and_turns_are_scores_of_one_question(
    store, tmp_path: Path
) -> None:
    row = {"question_id": 81, "model_1": "x", "model_2": "y", "judge": ["gpt-4", "pair"], "turn": 1}
    rows = [
        {**row, "g1_winner": "model_1", "g2_winner": "tie"},
        {**row, "g1_winner": "model_2", "g2_winner": "error", "turn": 2},
    ]
    result = import_verdicts(
        write(tmp_path / "p.jsonl", "\n".join(map(json.dumps, rows))), store, baseline="y"
    )
    scored = [
        (row.sample_id, row.repeat, row.cluster, getattr(row.outcome, "value", None))
        for row in store.rows(result.runs)
    ]
    assert scored == [
        ("81", 1, "81", 1.0),
        ("81", 2, "81", 0.5),
        ("81/2", 1, "81", 0.0),
        ("81/2", 2, "81", None),
    ]


def test_people_stand_beside_the_judge(store, tmp_path: Path) -> None:
    text = "model_a,model_b,id,judge,rater,winner\nx,y,1,g,,a\nx,y,1,,ann,a\nx,y,1,,bo,tie\n"
    result = import_verdicts(write(tmp_path / "p.csv", text), store, baseline="y")
    values = {row.score.address: row.outcome.value for row in store.rows(result.runs)}
    assert values["scores/g.wins"] == 1.0
    assert [value for name, value in values.items() if "human" in name] == [0.75]


def test_votes_of_raters_alone_are_labels_and_the_import_says_how_to_count_them(
    store, tmp_path: Path
) -> None:
    file = write(tmp_path / "p.csv", "model_a,model_b,id,rater,winner\nx,y,1,ann,a\nz,y,1,bo,tie\n")
    result = import_verdicts(file, store)
    assert (result.scores, result.labels) == (0, 2)
    assert [run.status for run in result.runs] == ["finished", "finished"]
    assert any("to count people as judges" in note for note in result.notes)
    assert import_verdicts(file, store).is_known


@pytest.mark.slow
@pytest.mark.skipif(not PUBLISHED.exists(), reason="published verdicts are not here")
def test_the_win_rates_of_a_published_leaderboard_come_out(store, tmp_path: Path) -> None:
    with gzip.open(PUBLISHED / "alpaca_eval_annotations.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["judge"] == "alpaca_eval_gpt4" and row["model"] in ("claude", "phi-2")
        ]
    assert len(rows) == 2 * 805
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    path = tmp_path / "annotations.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(lines)
    columns = {"model_a": "baseline", "model_b": "model", "question": "instruction"}
    result = import_verdicts(path, store, columns=columns)
    with (PUBLISHED / "alpaca_eval_1_leaderboard.csv").open(encoding="utf-8") as file:
        board = {
            row["model"] if "model" in row else row[""]: float(row["win_rate"])
            for row in csv.DictReader(file)
        }
    for model, rate in rates(store, result).items():
        assert 100 * rate == pytest.approx(board[model], abs=0.05)
    first, second = (run.id for run in result.runs[:2])
    (score,) = compare_runs(store, first, second).scores
    assert score.problem == ""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.peer_review.simulated_panel import simulated_battles

pytestmark = pytest.mark.slow


@pytest.fixture
def battle_file(tmp_path: Path) -> Path:
    """Write battles of four judges that are models, one of which knows nothing."""
    battles = simulated_battles(0, np.array([2.0, 2.0, 2.0, 0.0]), models=5, questions=30, first=0.5)
    rows = [
        {
            "model_a": battles.models[a],
            "model_b": battles.models[b],
            "winner": "a" if outcome else "b",
            "judge": battles.judges[judge],
            "question": battles.questions[question],
            "first": "a" if first == 1 else "b",
            "prompt": f"question {battles.questions[question]}",
            "answer_a": f"{battles.questions[question]} by {battles.models[a]}",
            "answer_b": f"{battles.questions[question]} by {battles.models[b]}",
        }
        for a, b, outcome, judge, question, first in zip(
            battles.model_a.tolist(),
            battles.model_b.tolist(),
            battles.outcome.tolist(),
            battles.judge.tolist(),
            battles.question.tolist(),
            battles.first.tolist(),
            strict=True,
        )
    ]
    path = tmp_path / "battles.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def human_file(tmp_path: Path) -> Path:
    path = tmp_path / "human.csv"
    path.write_text("model,rank\n" + "".join(f"m0{n},{n + 1}\n" for n in range(5)) + "m09,6\n", "utf-8")
    return path


def test_the_table_names_models_judges_notes_and_people(hengwen, battle_file, human_file) -> None:
    done = hengwen("peer-review", battle_file, "--human", human_file, "-v")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith(
        "Peer review · Bradley-Terry model with judge quality (judge-bt): 5 models, 4 judges, 30"
    )
    assert "places are settled." in lines[1]
    rows = [line.split() for line in lines]
    first = next(row for row in rows if row[:1] == ["1"])
    assert "m00" in first
    assert rows.index(next(row for row in rows if row[:1] == ["m03"])) > rows.index(
        next(row for row in rows if row[:1] == ["m00"])
    )
    assert any(line.startswith("· the judges differ in quality (p = ") for line in lines)
    assert "against people (5 models): Spearman 1.000, Kendall tau-b 1.000" in done.out
    assert "CIN 0, LIS 5/5" in done.out
    assert "not compared: m09" in done.out


def test_the_table_is_also_in_chinese(hengwen, battle_file, human_file) -> None:
    out = hengwen("peer-review", battle_file, "--human", human_file, "--lang", "zh", "-v").out
    for text in ("名次区间", "顺序一致", "评审质量不同", "与人工排名比较（5 个模型）"):
        assert text in out


def test_json_holds_the_whole_result(hengwen, battle_file, human_file) -> None:
    result = hengwen("peer-review", battle_file, "--human", human_file, "--json").json
    assert (result["schema"], result["method"], result["failures"]) == (1, "judge-bt", 0)
    assert [model["rank"] for model in result["models"]] == [1, 2, 3, 4, 5]
    assert {"name", "weight", "consistent", "first_share", "own_share"} <= result["judges"][0].keys()
    assert {"code", "zh", "en"} == result["notes"][0].keys()
    assert result["human"]["ranking"]["cin"] == 0
    assert [(known["judge"], known["kind"]) for known in result["judge_trust"]] == [
        (f"m0{n}", "named") for n in range(4)
    ]
    assert hengwen("peer-review", battle_file, "--json").json["human"] is None


@pytest.mark.parametrize("method", ["uniform", "consistency", "bradley-terry"])
def test_every_method_prints_a_ranking(hengwen, battle_file, method: str) -> None:
    done = hengwen("peer-review", battle_file, "--method", method, "--resamples", 20)
    assert done.code == 0, done.err
    assert "m04" in done.out
    assert hengwen("peer-review", battle_file, "--method", method, "--resamples", 20, "-q").out == ""


def test_verdicts_that_failed_are_counted_and_do_not_count(hengwen, tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text("model_a,model_b,winner,question\nx,y,a,1\nx,y,error,2\nx,y,a,3\n", "utf-8")
    done = hengwen("peer-review", path)
    assert "Verdicts that are missing because a judge failed: 1." in done.out
    assert "2/0/0" in done.out
    assert "warning: 1 verdict is missing" in hengwen("peer-review", path, "--json").err


def test_reports_are_written_and_never_replace_an_input(hengwen, battle_file, tmp_path: Path) -> None:
    done = hengwen("peer-review", battle_file, "-q", "-o", "r.html", "-o", "r.md", "-o", "r.json")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == ["report: r.html", "report: r.md", "report: r.json"]
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["models"][0]["name"] == "m00"
    assert "Peer review" in (tmp_path / "r.html").read_text("utf-8")
    wrong = hengwen("peer-review", battle_file, "-o", "r.pdf")
    assert (wrong.code, "unknown format '.pdf' of 'r.pdf'" in wrong.err) == (2, True)


def test_names_cannot_control_the_terminal(hengwen, tmp_path: Path) -> None:
    rows = [
        {"model_a": "x\x1b[2J", "model_b": "y", "winner": "a", "question": number, "judge": "j\x1b[31m"}
        for number in range(12)
    ]
    (tmp_path / "f.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (tmp_path / "human.csv").write_text("model,rank\nx\x1b[2J,1\ny,2\nw\x1b[2J,3\n", "utf-8")
    done = hengwen("peer-review", "f.jsonl", "--human", "human.csv")
    assert done.code == 0, done.err
    assert "\x1b" not in done.out + done.err
    assert "not compared: w\n" in done.out


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_battles_are_written_and_read_again(hengwen, battle_file, suffix: str) -> None:
    first = hengwen("peer-review", battle_file, "--battles", f"out.{suffix}", "--json")
    assert first.code == 0, first.err
    again = hengwen("peer-review", f"out.{suffix}", "--json")
    assert (again.code, again.json) == (0, first.json), again.err

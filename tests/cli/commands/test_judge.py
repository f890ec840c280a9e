"""``hengwen score --rubric``: stored answers to verdicts, without a plan."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

ROWS = [
    {"id": "a", "input": "在吗？", "output": "在呀，刚把窗推开，风里都是桂花味。"},
    {"id": "b", "input": "在吗？", "output": ""},
    {"id": "c", "input": "在吗？", "output": "## 回答\n我在。"},
]


def write(folder: Path, *rows: dict) -> None:
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def test_verdicts_by_rules_are_written_and_kept(hengwen, tmp_path: Path) -> None:
    write(tmp_path, *ROWS)
    done = hengwen("score", "in.jsonl", "--rubric", "persona_generic", "-o", "out.jsonl")
    assert done.code == 0, done
    rows = {
        row["id"]: row for row in map(json.loads, (tmp_path / "out.jsonl").read_text("utf-8").splitlines())
    }
    assert rows["b"]["persona_generic.level"] == 0
    assert rows["c"]["persona_generic.level"] == 0.5
    assert rows["a"]["persona_generic.level"] > 0.5
    assert all(row["status"] == "ok" and "by rules" in row["reason"] for row in rows.values())
    assert hengwen("report", "--plan", "judge-in", "--json").json["runs"][0]["checkpoint"] == "file"


def test_csv_and_foreign_columns(hengwen, tmp_path: Path) -> None:
    write(tmp_path, *({**row, "answer": row["output"], "output": None} for row in ROWS))
    columns = ("--column", "output=old", "--column", "answer=output")
    hengwen("score", "in.jsonl", "--rubric", "persona_generic", "-o", "out.csv", *columns)
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text("utf-8").splitlines()))
    assert [row["persona_generic.level"] for row in rows][1:] == ["0.0", "0.5"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rubric", "persona"], "unknown rubric 'persona'"),
        (["--rubric", "persona_generic", "-o", "x.txt"], "cannot tell the format of 'x.txt'"),
        (["--rubric", "persona_generic", "--judge", "openai/m"], "OPENAI_API_KEY"),
        (["--rubric", "persona_generic", "--prompt-lang", "fr"], "--prompt-lang is zh or en"),
    ],
)
def test_wrong_words_are_exit_2(hengwen, tmp_path: Path, arguments: list[str], message: str) -> None:
    write(tmp_path, *ROWS)
    done = hengwen("score", "in.jsonl", "-o", "out.jsonl", *arguments)
    assert (done.code, message in done.err) == (2, True), done.err


def test_an_id_that_comes_twice_is_named_by_line(hengwen, tmp_path: Path) -> None:
    write(tmp_path, ROWS[0], ROWS[0])
    done = hengwen("score", "in.jsonl", "--rubric", "persona_generic", "-o", "out.jsonl")
    assert (done.code, "in.jsonl:2: field 'id' repeats 'a'" in done.err) == (2, True)

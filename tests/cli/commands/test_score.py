"""``hengwen score``: exit codes and messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROW = {"id": "a", "template": "(verse)\ncc", "output": "(verse)\n月光"}


def write(folder: Path, *rows: dict) -> None:
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def test_all_good_is_0_and_is_counted(hengwen, tmp_path: Path) -> None:
    write(tmp_path, ROW, ROW)
    done = hengwen("score", "in.jsonl", "-o", "out.jsonl", "--set", "rules=muchin", "--column", "id=name")
    assert (done.code, done.out, done.err) == (0, "", "out.jsonl: scored 2 of 2 rows\n")


def test_a_bad_row_is_a_warning_and_an_error_only_under_strict(hengwen, tmp_path: Path) -> None:
    write(tmp_path, ROW, {**ROW, "template": ""})
    done = hengwen("score", "in.jsonl", "-o", "out.csv")
    assert done.code == 0
    assert "warning: 1 rows failed, first failure: " in done.err
    assert "in.jsonl:2: " in done.err
    assert hengwen("score", "in.jsonl", "-o", "out.csv", "--strict").code == 1


def test_not_one_good_row_is_1(hengwen, tmp_path: Path) -> None:
    write(tmp_path, {**ROW, "template": ""})
    done = hengwen("score", "in.jsonl", "-o", "out.csv", "-q")
    assert (done.code, "no row could be scored" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--set", "rules"], 2),
        (["--set", "rule=x"], 2),
        (["--scorer", "lyrik"], 2),
        (["--workers", "0"], 2),
        (["--column", "x=output"], 1),
        (["--limit", "1"], 2),
        (["--rubric", "lyric_craft", "--workers", "1"], 2),
    ],
)
def test_wrong_words_are_told_without_a_traceback(
    hengwen, tmp_path: Path, arguments: list[str], code: int
) -> None:
    write(tmp_path, ROW)
    done = hengwen("score", "in.jsonl", "-o", "out.csv", *arguments)
    assert done.code == code
    assert "Traceback" not in done.err


def test_where_to_write_must_be_said(hengwen, tmp_path: Path) -> None:
    write(tmp_path, ROW)
    assert hengwen("score", "in.jsonl").code == 2


def test_rows_are_counted_as_json_where_asked(hengwen, tmp_path: Path) -> None:
    row = {"id": "a", "template": "(verse)\ncc", "output": "(verse)\n月光"}
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    done = hengwen("score", "in.jsonl", "-o", "out.jsonl", "--json")
    assert done.json == {"schema": 1, "output": "out.jsonl", "rows": 1, "failed": 0, "first_failure": ""}
    assert done.err == ""

"""``hengwen score``: exit codes and messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hengwen.runs.shards.schedule import ShardError
from hengwen.runs.shards.score_folder import FolderScoreResult

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
    ],
)
def test_wrong_words_are_told_without_a_traceback(
    hengwen, tmp_path: Path, arguments: list[str], code: int
) -> None:
    write(tmp_path, ROW)
    done = hengwen("score", "in.jsonl", "-o", "out.csv", *arguments)
    assert done.code == code
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_with_an_engine_files_are_scored_into_a_folder_and_resumed(hengwen, tmp_path: Path) -> None:
    write(tmp_path, ROW, {**ROW, "template": ""}, ROW)
    command = ("score", "*.jsonl", "-o", "out", "--engine", "local", "--workers", 1, "--shard-rows", 2)
    done = hengwen(*command)
    assert (done.code, done.out) == (0, ""), done.err
    assert done.err.splitlines()[0] == "out: scored 2 of 3 rows"
    assert done.err.splitlines()[1].startswith("hengwen: warning: 1 rows failed, first failure: in.jsonl:2: ")
    assert hengwen(*command, "--strict").code == 1
    again = hengwen(*command, "--json")
    assert {**again.json, "first_failure": ""} == {
        "schema": 1,
        "output": "out",
        "rows": 3,
        "failed": 1,
        "shards": 2,
        "reused": 2,
        "errors": [],
        "first_failure": "",
    }
    assert hengwen(*command).err.startswith("out: 2 of 2 shards were finished before\n")


def test_a_shard_that_cannot_be_scored_is_1_and_is_named(
    hengwen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import contextmanager

    from hengwen.runs.shards import schedule

    class FullDisk:
        def window(self) -> int:
            return 1

        def submit(self, task) -> None:
            self.task = task

        def wait(self):
            return self.task, ShardError(number=self.task.shard.number, message="disk full")

    @contextmanager
    def full_disk(workers):
        yield FullDisk()

    monkeypatch.setattr(schedule, "local_pool", full_disk)
    write(tmp_path, ROW, ROW)
    done = hengwen("score", "in.jsonl", "-o", "out", "--engine", "local")
    assert done.code == 1
    assert done.err == (
        "out: scored 0 of 0 rows\nhengwen: not scored: shard-000000.jsonl (in.jsonl:1-2): disk full\n"
    )


def test_rows_that_failed_are_reported_beside_a_shard_that_could_not_be_scored(
    hengwen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = FolderScoreResult(
        rows=2,
        failed=1,
        shards=2,
        reused=0,
        errors=("shard-000001.jsonl: disk full",),
        first_failure="no text",
    )
    monkeypatch.setattr("hengwen.runs.shards.score_folder.score_folder", lambda *_, **options: result)
    write(tmp_path, ROW, ROW)
    done = hengwen("score", "in.jsonl", "-o", "out", "--engine", "local")
    assert done.code == 1
    assert "not scored: shard-000001.jsonl: disk full" in done.err
    assert "1 rows failed, first failure: no text" in done.err


def test_where_to_write_must_be_said(hengwen, tmp_path: Path) -> None:
    write(tmp_path, ROW)
    assert hengwen("score", "in.jsonl").code == 2


def test_rows_are_counted_as_json_where_asked(hengwen, tmp_path: Path) -> None:
    row = {"id": "a", "template": "(verse)\ncc", "output": "(verse)\n月光"}
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    done = hengwen("score", "in.jsonl", "-o", "out.jsonl", "--json")
    assert done.json == {"schema": 1, "output": "out.jsonl", "rows": 1, "failed": 0, "first_failure": ""}
    assert done.err == ""

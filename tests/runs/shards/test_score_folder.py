"""Files scored into a folder: the rows of score_file, each once, also after a crash, also with bad rows."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from hengwen.errors import ConfigError, DataError
from hengwen.runs.score_file import score_file, write_scored
from hengwen.runs.shards import schedule
from hengwen.runs.shards.manifest import ShardResult, manifest_key
from hengwen.runs.shards.schedule import ShardError, ShardTask, local_pool, score_shard
from hengwen.runs.shards.score_folder import FolderScoreResult, score_folder

TEMPLATE = "(verse)\nccR\nccR"
LYRIC = "(verse)\n看海去\n听风曲"
SCORERS = """\
import os, signal
from hengwen import Score
class Deadly:
    signature, names = 'deadly|v:1', ('deadly.length',)
    def score(self, sample, response):
        if response.text == 'KILL':
            os.kill(os.getpid(), signal.SIGKILL)
        return [Score(name='deadly.length', value=len(response.text), signature=self.signature)]
"""


class InlinePool:
    """Scores each shard in this process when it is waited for."""

    def __init__(self) -> None:
        self.tasks: list[ShardTask] = []
        self.scored: list[int] = []

    def window(self) -> int:
        return 2

    def submit(self, task: ShardTask) -> None:
        self.tasks.append(task)

    def wait(self) -> tuple[ShardTask, ShardResult | ShardError]:
        task = self.tasks.pop()  # out of order
        self.scored.append(task.shard.number)
        return task, score_shard(task)


@contextmanager
def inline(pool: InlinePool | None = None) -> Iterator[InlinePool]:
    yield pool or InlinePool()


def rows(count: int) -> str:
    lines = [
        json.dumps({"id": f"r{n}", "template": TEMPLATE, "output": LYRIC[: n % 14]}, ensure_ascii=False)
        for n in range(count)
    ]
    return "\n".join([*lines[:7], "nonsense", "", *lines[7:]]) + "\n"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text(rows(30), "utf-8")
    return Path("in.jsonl")


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def joined(folder: Path) -> str:
    return "".join(path.read_text("utf-8") for path in sorted(folder.glob("shard-*.jsonl")))


def manifest(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text("utf-8"))


def test_the_shards_together_are_the_file_of_score_file(source: Path) -> None:
    done = score_folder([source], Path("out"), inline(), shard_rows=4)
    score_file(source, Path("whole.jsonl"))
    assert joined(Path("out")) == Path("whole.jsonl").read_text("utf-8")
    assert (done.rows, done.failed, done.shards, done.reused, done.errors) == (31, 1, 8, 0, ())
    assert done.first_failure.startswith("in.jsonl:8: not valid JSON")
    assert sorted(content(Path("out"))) == [
        ".lock",
        "manifest.json",
        *[f"shard-00000{n}.jsonl" for n in range(8)],
    ]


def test_the_manifest_has_inputs_settings_shards_and_counts(source: Path) -> None:
    score_folder([source], Path("out"), inline(), options={"rules": "muchin"}, shard_rows=16)
    stored = manifest(Path("out"))
    assert (stored["schema"], stored["scorer"], stored["options"]) == (1, "lyric", {"rules": "muchin"})
    assert (stored["rows"], stored["failed"], stored["complete"]) == (31, 1, True)
    assert stored["signature"].startswith("lyric|rules:muchin")
    (file,) = stored["inputs"]
    assert (file["path"], file["rows"], file["bytes"]) == ("in.jsonl", 32, source.stat().st_size)
    second = stored["shards"][1]
    assert (second["output"], second["skipped"], second["rows"]) == ("shard-000001.jsonl", 16, 16)
    assert (second["result"]["rows"], second["result"]["failed"]) == (16, 0)


def test_several_files_of_both_formats_are_scored_in_order(source: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = pa.table({"id": ["p1", "p2", "p3"], "template": [TEMPLATE] * 3, "output": [LYRIC, None, LYRIC]})
    pq.write_table(table, "z.parquet", row_group_size=1)
    done = score_folder([Path("z.parquet"), source], Path("out"), inline(), shard_rows=20)
    scored = [json.loads(line) for line in joined(Path("out")).splitlines()]
    assert [row["id"] for row in scored[:4]] == ["p1", "p2", "p3", "r0"]
    assert (done.rows, done.shards, scored[0]["lyric.total"]) == (34, 3, scored[2]["lyric.total"])
    assert scored[1]["message"] == "z.parquet:2: field 'output' is missing (it is empty)"
    assert [shard["input"] for shard in manifest(Path("out"))["shards"]] == [0, 1, 1]


def test_finished_shards_are_not_scored_again(source: Path) -> None:
    score_folder([source], Path("whole"), inline(), shard_rows=4)
    interrupted = InlinePool()

    def stop(rows: int) -> None:
        if rows > 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_folder([source], Path("out"), inline(interrupted), shard_rows=4, progress=stop)
    assert not manifest(Path("out"))["complete"]
    progress = Path("out/progress.jsonl")
    progress.write_text(progress.read_text() + '\n{"number": 7, "rows": 4, "fai')  # a killed process
    Path("out/.shard-000007.jsonl.x.part").write_text("half a line")
    pool = InlinePool()
    done = score_folder([source], Path("out"), inline(pool), shard_rows=4)
    assert (done.reused, done.rows) == (3, 31)
    assert sorted(interrupted.scored + pool.scored) == list(range(8))
    assert content(Path("out")) == content(Path("whole"))
    again = InlinePool()
    done = score_folder([source], Path("out"), inline(again), shard_rows=4)
    assert (done.reused, done.rows, done.failed, again.scored) == (8, 31, 1, [])
    assert done.first_failure.startswith("in.jsonl:8: not valid JSON")


def test_a_shard_whose_file_was_removed_or_cut_is_scored_again(source: Path) -> None:
    score_folder([source], Path("out"), inline(), shard_rows=4)
    before = content(Path("out"))
    Path("out/shard-000002.jsonl").unlink()
    Path("out/shard-000005.jsonl").write_text("")
    pool = InlinePool()
    score_folder([source], Path("out"), inline(pool), shard_rows=4)
    assert sorted(pool.scored) == [2, 5]
    assert content(Path("out")) == before


def test_a_touched_input_is_the_same_and_a_changed_one_is_refused(source: Path) -> None:
    score_folder([source], Path("out"), inline(), shard_rows=4)
    text = source.read_text("utf-8")
    source.write_text(text, "utf-8")
    pool = InlinePool()
    score_folder([source], Path("out"), inline(pool), shard_rows=4)
    assert pool.scored == []
    source.write_text(text.replace("r3", "r4"), "utf-8")
    with pytest.raises(ConfigError, match=r"in\.jsonl: has changed since out was scored"):
        score_folder([source], Path("out"), inline(), shard_rows=4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"scorer": "length"}, "out: was scored with scorer 'lyric', not 'length'; name another folder"),
        ({"options": {"rules": "muchin"}}, r"out: was scored with options \{\}, not \{'rules': 'muchin'\}"),
        ({"columns": {"id": "key"}}, r"out: was scored with columns \{\}, not \{'id': 'key'\}"),
        ({"shard_rows": 5}, "out: was scored with shard_rows 4, not 5"),
        ({"inputs": ["in.jsonl", "more.jsonl"]}, r"out: was scored from other inputs, see more\.jsonl"),
    ],
)
def test_a_folder_with_other_settings_is_refused(source: Path, call: dict, message: str) -> None:
    shutil.copy(source, "more.jsonl")
    score_folder([source], Path("out"), inline(), shard_rows=4)
    before = content(Path("out"))
    inputs = [Path(name) for name in call.pop("inputs", ["in.jsonl"])]
    with pytest.raises(ConfigError, match=message):
        score_folder(inputs, Path("out"), inline(), **{"shard_rows": 4, **call})
    assert content(Path("out")) == before


@pytest.mark.parametrize(
    ("folder", "write", "message"),
    [
        ("out", {"out": ""}, "out: is a file, but a folder of scores is needed"),
        ("out", {"out/notes.txt": ""}, "out: has other files; name a new folder, or an empty one"),
        ("no/out", {}, "folder 'no' does not exist"),
        (".", {"manifest.json": "{}"}, "is in the output folder"),
        ("out", {"out/manifest.json": "[]"}, "out/manifest.json: is no manifest of this version"),
    ],
)
def test_a_folder_that_cannot_be_used_is_refused(
    source: Path, folder: str, write: dict[str, str], message: str
) -> None:
    for name, text in write.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    with pytest.raises(ConfigError, match=message):
        score_folder([source], Path(folder), inline(), shard_rows=5_000)


def test_an_input_that_changes_while_it_is_scored_is_an_error(source: Path) -> None:
    def change(rows: int) -> None:
        source.write_bytes(b"{}" + source.read_bytes()[2:])

    with pytest.raises(DataError, match=r"in\.jsonl: has changed while it was scored"):
        score_folder([source], Path("out"), inline(), shard_rows=5_000, progress=change)


def test_an_input_that_is_touched_while_it_is_scored_is_the_same(source: Path) -> None:
    done = score_folder(
        [source], Path("out"), inline(), shard_rows=5_000, progress=lambda rows: os.utime(source, ns=(1, 1))
    )
    assert done.rows == 31


def test_two_commands_do_not_score_into_one_folder_at_a_time(source: Path) -> None:
    def score_again(rows: int) -> None:
        with pytest.raises(ConfigError, match="^out: another command scores into it; wait for it$"):
            score_folder([source], Path("out"), inline(), shard_rows=5_000)

    done = score_folder([source], Path("out"), inline(), shard_rows=5_000, progress=score_again)
    assert score_folder([source], Path("out"), inline(), shard_rows=5_000) == replace(done, reused=1)


def test_files_without_rows_are_an_error(source: Path) -> None:
    Path("blank.jsonl").write_text("\n")
    for _ in range(2):
        with pytest.raises(DataError, match=r"^blank\.jsonl: no rows$"):
            score_folder([Path("blank.jsonl")], Path("out"), inline(), shard_rows=5_000)


def test_the_other_shards_are_scored_before_a_failed_shard_is_reported(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = write_scored

    def full(scored, target, header):
        if target.name == "shard-000001.jsonl":
            raise OSError(28, "No space left on device")
        return write(scored, target, header)

    monkeypatch.setattr(schedule, "write_scored", full)
    done = score_folder([source], Path("out"), inline(), shard_rows=4)
    (error,) = done.errors
    assert error == "shard-000001.jsonl (in.jsonl:5-8): OSError: [Errno 28] No space left on device"
    assert (done.rows, manifest(Path("out"))["complete"]) == (27, False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("folder", "out: a machine does not see this folder, or sees another manifest"),
        ("input", "in.jsonl: has another size than when it was split into shards"),
        ("scorer", "has the signature 'lyric|.*' on a machine, but 'other' where the command runs"),
    ],
)
def test_a_machine_that_sees_other_files_or_packages_is_an_error(
    source: Path, change: str, message: str
) -> None:
    pool = InlinePool()

    class Elsewhere(InlinePool):
        def submit(self, task: ShardTask) -> None:
            pool.submit(task)
            super().submit(task)

    score_folder([source], Path("out"), inline(Elsewhere()), shard_rows=5_000)
    (task,) = pool.tasks
    if change == "folder":
        Path("out/manifest.json").unlink()
    elif change == "input":
        source.write_text("{}\n")
    else:
        task = replace(task, settings=replace(task.settings, signature="other"))
        stored = manifest(Path("out")) | {"signature": "other"}
        Path("out/manifest.json").write_text(json.dumps(stored))
        task = replace(task, key=manifest_key(Path("out")))
    outcome = score_shard(task)
    assert isinstance(outcome, ShardError)
    assert re.search(message, outcome.message)


def deadly(folder: Path, pool, name: str) -> FolderScoreResult:
    (folder / "own.py").write_text(SCORERS)
    texts = ["a", "bb", "KILL", "ccc", "dddd", "KILL", "e", "ff"]
    lines = [json.dumps({"id": text, "output": text}) for text in texts]
    (folder / "deadly.jsonl").write_text("\n".join(lines) + "\n")
    return score_folder([Path("deadly.jsonl")], Path(name), pool, scorer="own.py:Deadly", shard_rows=3)


@pytest.mark.slow
def test_a_row_that_kills_its_process_becomes_a_failure_of_this_row(source: Path) -> None:
    done = deadly(Path(), local_pool(2), "out")
    scored = [json.loads(line) for line in joined(Path("out")).splitlines()]
    assert (done.rows, done.failed, done.errors) == (8, 2, ())
    assert [row.get("deadly.length") for row in scored] == [1, 2, None, 3, 4, None, 1, 2]
    message = "deadly.jsonl:3: the worker process that scored it died: SIGKILL, out of memory?"
    assert scored[2]["message"] == message
    assert (scored[2]["line"], scored[2]["id"], scored[2]["output"]) == (3, "KILL", "KILL")


@pytest.mark.slow
def test_processes_change_nothing(source: Path) -> None:
    score_folder([source], Path("inline"), inline(), shard_rows=4)
    score_folder([source], Path("local"), local_pool(2), shard_rows=4)
    assert content(Path("local")) == content(Path("inline"))

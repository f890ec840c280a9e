"""Worker processes of a run change no score, and end with the run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hengwen.plans.plan import load_plan
from hengwen.plans.suite import load_suite
from hengwen.records import Failure
from hengwen.runs.options import RunOptions
from hengwen.runs.resources import RunResources
from hengwen.runs.run_plan import run_plan
from hengwen.store.store import open_store

pytestmark = pytest.mark.slow

OWN_SCORER = """
import os, time
from pathlib import Path
from hengwen import Score

class Process:
    signature, names = "process|v:1", ("process.id",)
    def score(self, sample, response):
        if response.text == "slow":
            Path(__file__).with_name("slow").touch()
            time.sleep(60)
        return [Score(name="process.id", value=os.getpid(), signature=self.signature)]
"""


def write_plan(folder: Path, answers: list[str], *scorers: Any) -> Path:
    rows = [{"id": f"q{number}", "input": "写一行"} for number in range(len(answers))]
    texts = [{"id": row["id"], "output": text} for row, text in zip(rows, answers, strict=True)]
    for name, values in (("p", rows), ("a", texts), ("b", texts)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, values)), "utf-8")
    (folder / "own.py").write_text(OWN_SCORER, "utf-8")
    task = {
        "name": "t",
        "samples": "p.jsonl",
        "scorers": ["length", "distinct_n", *scorers],
        "judges": [{"rubric": "lyric_craft"}],
        "rules": ["broken", "plain_text"],
    }
    checkpoints = [{"name": name, "responses": f"{name}.jsonl"} for name in ("a", "b")]
    plan = {"name": "p", "tasks": [task], "checkpoints": checkpoints}
    (folder / "plan.yaml").write_text(json.dumps(plan), "utf-8")
    return folder / "plan.yaml"


def stored(path: Path) -> dict[tuple, Any]:
    with open_store(path) as store:
        return {
            (run.checkpoint, row.sample_id, row.repeat, row.score.name): row.outcome
            for run in store.runs()
            for row in store.rows([run])
        }


def test_the_scores_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, [f"第{number}行风吹过山岗" for number in range(250)])
    for workers in (1, 3):
        run_plan(plan, store=tmp_path / f"{workers}.db", options=RunOptions(workers=workers))
    assert stored(tmp_path / "1.db") == stored(tmp_path / "3.db")


def process_ids(path: Path) -> set[float]:
    return {score.value for (*_, name), score in stored(path).items() if name == "process.id"}


def test_all_checkpoints_share_the_processes(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, ["云"] * 10, f"{tmp_path}/own.py:Process")
    run_plan(plan, store=tmp_path / "x.db", options=RunOptions(workers=2), trust=True)
    (worker,) = process_ids(tmp_path / "x.db")
    assert worker != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(int(worker), 0)


@pytest.mark.parametrize(("answers", "limit", "count"), [(499, None, 1), (500, None, 4), (600, 499, 1)])
def test_processes_start_by_default_from_a_thousand_answers_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: int, limit: int | None, count: int
) -> None:
    monkeypatch.setattr("hengwen.runs.resources.usable_cores", lambda: 4)
    suite = load_suite(load_plan(write_plan(tmp_path, ["云"] * answers)))
    with open_store("sqlite://") as store:
        pool = RunResources(suite, store, RunOptions(limit=limit)).pool
    assert (pool.workers if pool else 1) == count


def test_the_number_of_processes_must_be_positive(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="workers must be a whole number >= 1, got 0"):
        run_plan(write_plan(tmp_path, ["云"]), store=tmp_path / "x.db", options=RunOptions(workers=0))


def test_an_interrupted_command_leaves_no_process_and_resumes(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, ["云"] * 300 + ["slow"] * 20, f"{tmp_path}/own.py:Process")
    command = [sys.executable, "-m", "hengwen", "run", str(plan), "--store", str(tmp_path / "x.db")]
    command += ["--workers", "2", "--quiet", "--trust"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "slow").exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate()  # ends when the workers, which share standard error, have ended
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "interrupted; the results are in" in errors
    assert not any(
        isinstance(outcome, Failure)
        for (*_, name), outcome in stored(tmp_path / "x.db").items()
        if name == "process.id"
    )

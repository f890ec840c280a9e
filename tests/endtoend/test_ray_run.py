"""``--engine ray``: the rows of the local processes, whatever dies meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ray_cluster import WARNINGS

from hengwen import Failure, open_store

pytestmark = [pytest.mark.slow, *WARNINGS]

ROWS = 8_640
SCORER = """
import os, signal
from pathlib import Path
from hengwen import Score

class Fragile:
    signature, names = "fragile|v:1", ("fragile.length",)
    def __init__(self, marks: str) -> None:
        self.marks = marks
    def score(self, sample, response):
        if response.text == "KILL":
            os.kill(os.getpid(), signal.SIGKILL)
        mark = Path(self.marks, f"{sample.id}.killed")
        if response.text.startswith("kill once") and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return [Score(name="fragile.length", value=len(response.text), signature=self.signature)]
"""


def text_of(number: int) -> str:
    return "KILL" if number == 700 else "kill once" if number in {5, 4_000} else "x" * (number % 90)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(SCORER)
    (tmp_path / "ray").mkdir()
    rows = [{"id": f"r{number}", "input": "q", "output": text_of(number)} for number in range(ROWS)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def hengwen(*arguments: str, address: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *([] if WARNINGS else ["-W", "error"]), "-m", "hengwen", *arguments]
    variables = {**os.environ, "RAY_ADDRESS": address}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=variables)


def test_a_file_has_the_same_scores_and_one_failure(folder: Path, ray_cluster: Any) -> None:
    def score(engine: str) -> list[dict[str, Any]]:
        more = ("--scorer", "own.py:Fragile", "--set", "marks=ray", "--engine", engine, "--json")
        command = ("score", "in.jsonl", "-o", f"{engine}.jsonl", *more, "--workers", "2")
        done = hengwen(*command, address=ray_cluster.address)
        result = json.loads(done.stdout)
        assert (result["rows"], result["failed"]) == (ROWS, 1)
        return [json.loads(line) for line in Path(f"{engine}.jsonl").read_text().splitlines()]

    ray, local = score("ray"), score("local")
    assert [row["id"] for row in ray] == [f"r{number}" for number in range(ROWS)]
    assert "the worker process that scored it died" in ray[700]["message"]
    assert "the worker process that scored it died" in local[700]["message"]
    assert [{**row, "message": ""} for row in ray] == [{**row, "message": ""} for row in local]


def test_a_plan_has_the_same_rows(folder: Path, ray_cluster: Any) -> None:
    scorers = ["length", {"name": "own.py:Fragile", "options": {"marks": "ray"}}]
    task = {"name": "t", "samples": "in.jsonl", "scorers": scorers, "judges": [{"rubric": "lyric_craft"}]}
    plan = {"name": "p", "tasks": [task], "checkpoints": [{"name": "a", "responses": "in.jsonl"}]}
    (folder / "plan.yaml").write_text(json.dumps(plan))

    def run(engine: str) -> dict[tuple[Any, ...], Any]:
        command = ("run", "plan.yaml", "--store", f"{engine}.db", "--engine", engine, "-q", "--trust")
        hengwen(*command, "--workers", "2", "--limit", "1000", address=ray_cluster.address)
        with open_store(f"{engine}.db") as store:
            return {(row.sample_id, row.score.name): row.outcome for row in store.rows(store.runs())}

    ray, local = run("ray"), run("local")
    dead = ("r700", "fragile.length")
    assert [rows.pop(dead).status for rows in (ray, local)] == ["scorer_error"] * 2
    assert ray == local
    assert not [key for key, outcome in ray.items() if key[1] == dead[1] and isinstance(outcome, Failure)]

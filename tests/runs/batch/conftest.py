"""A plan whose judge has a batch endpoint on loopback, and ways to run it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_server import BatchServer, serving_batches  # noqa: F401 - a fixture

from hengwen import open_store, run_plan
from hengwen.runs.batch import submission
from hengwen.runs.options import BatchOptions, RunOptions
from hengwen.runs.run_plan import RunResult
from hengwen.store.store import Store

KEY = "sk-planted-4f1c9e"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty store, with a key in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with open_store(tmp_path / "x.db") as opened:
        yield opened


@pytest.fixture
def judged(tmp_path: Path, batch_server: BatchServer) -> Callable[..., Path]:
    """Return a function that writes a plan of answers to judge by batch."""

    def write(
        count: int, *, judge: Any = None, checkpoints: tuple[str, ...] = ("a",), more: Any = None, **spec: Any
    ) -> Path:
        prompts = [{"id": f"q{i}", "input": f"第{i}个问题"} for i in range(count)]
        (tmp_path / "prompts.jsonl").write_text(jsonl(prompts), "utf-8")
        for name in checkpoints:
            answers = [{"id": f"q{i}", "output": f"这是{name}的第{i}个回答。"} for i in range(count)]
            (tmp_path / f"{name}.jsonl").write_text(jsonl(answers), "utf-8")
        backend = {"provider": "openai", "model": "tiny", "base_url": batch_server.url, "retries": 1}
        plan = {
            "name": "p",
            "tasks": [
                {
                    "name": "t",
                    "samples": "prompts.jsonl",
                    "judges": [{"rubric": "persona_generic", "backend": "judge", **(judge or {})}],
                },
            ],
            "checkpoints": [{"name": name, "responses": f"{name}.jsonl"} for name in checkpoints],
            "backends": {"judge": {**backend, **spec}},
            **(more or {}),
        }
        path = tmp_path / "plan.yaml"
        path.write_text(json.dumps(plan, ensure_ascii=False), "utf-8")  # JSON is YAML
        return path

    return write


def jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture
def run(store: Store) -> Callable[..., RunResult]:
    """Return a function that runs a plan in batches, without a wait between two questions."""

    def call(plan: Path, *, budget: float | None = None, **options: Any) -> RunResult:
        batch = BatchOptions(poll_seconds=0, **options)
        return run_plan(plan, store=store, options=RunOptions(batch=batch, budget=budget))

    return call


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the clock of submissions; return its time as a list of one number."""
    time = [0.0]
    monkeypatch.setattr(submission, "monotonic", lambda: time[0])
    return time

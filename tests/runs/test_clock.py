"""A clock that is set back or forward changes no wait and no order of runs."""

from __future__ import annotations

import ast
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import hengwen
from hengwen import Plan, RunOptions, open_store, run_plan
from hengwen.runs import checkpoint_run

SOURCES = sorted(Path(hengwen.__file__).parent.rglob("*.py"))


@pytest.mark.slow
def test_only_dates_of_records_are_read_from_the_clock() -> None:
    """Waits and limits use a monotonic clock; the only subtraction of dates is that of a date in a header."""
    subtractions = []
    for path in SOURCES:
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert (node.value.id, node.attr) not in (("time", "time"), ("time", "localtime")), path
            if isinstance(node, ast.Attribute) and node.attr == "total_seconds":
                subtractions.append(path.name)
    assert subtractions == ["http.py"]


@pytest.mark.slow
@pytest.mark.parametrize("days", [-400, 400])
def test_the_newest_run_is_the_last_one_whatever_the_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    class Clock(datetime):
        shift = timedelta()

        @classmethod
        def now(cls, tz=UTC) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + cls.shift

    monkeypatch.setattr(checkpoint_run, "datetime", Clock)
    (tmp_path / "p.jsonl").write_text('{"id": "1", "input": "x"}\n', "utf-8")
    (tmp_path / "a.jsonl").write_text('{"id": "1", "output": "y"}\n', "utf-8")
    plan = Plan.model_validate(
        {
            "name": "p",
            "tasks": [{"name": "t", "samples": str(tmp_path / "p.jsonl"), "scorers": ["distinct_n"]}],
            "checkpoints": [{"name": "c", "responses": str(tmp_path / "a.jsonl")}],
        }
    )
    ids = []
    with open_store(tmp_path / "x.db") as store:
        for Clock.shift in (timedelta(), timedelta(days=days), timedelta()):
            (run,) = run_plan(plan, store=store, options=RunOptions(fresh=True)).runs
            ids.append(run.id)
            assert store.latest()[0].id == run.id
        assert [run.id for run in store.runs()] == ids[::-1]

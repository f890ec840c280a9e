"""The arguments of ``run_plan`` and ``estimate_plan``: each is used, and the defaults are those of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rows import each_row

from hengwen.plans.plan import Plan, load_plan
from hengwen.plans.suite import LoadedPlan
from hengwen.runs.options import RunOptions
from hengwen.runs.run_plan import CostEstimate, RunResult, estimate_plan, run_plan
from hengwen.store.store import Store, open_store

URL = "http://127.0.0.1:9/v1"


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a plan with one stored answer into the working folder."""
    monkeypatch.chdir(tmp_path)
    for name, row in {
        "prompts.jsonl": {"id": "a", "input": "写一行"},
        "a.jsonl": {"id": "a", "output": "天上的云"},
        "plan.yaml": {  # JSON is YAML
            "name": "p",
            "tasks": [{"name": "t", "samples": "prompts.jsonl", "judges": [{"rubric": "lyric_craft"}]}],
            "checkpoints": [{"name": "a", "responses": "a.jsonl"}],
        },
    }.items():
        (tmp_path / name).write_text(json.dumps(row, ensure_ascii=False) + "\n", "utf-8")
    return tmp_path / "plan.yaml"


Calls = list[tuple[Any, Any, RunOptions]]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Return the plan, store and options of each call of ``run_plan``, which runs nothing."""
    calls: Calls = []

    def record(plan: Plan, store: Store | str | Path, options: RunOptions, *, trust: bool) -> RunResult:
        calls.append((plan, store, options))
        return RunResult(plan=plan.name, runs=(), store=str(store))

    monkeypatch.setattr("hengwen.runs.run_plan.run_resolved", record)
    return calls


@pytest.fixture
def estimates(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Return the plan, store and options of each call of ``estimate_plan``, which estimates nothing."""
    calls: Calls = []

    async def record(suite: LoadedPlan, store: Store, options: RunOptions) -> list[CostEstimate]:
        calls.append((suite.plan, store.name, options))
        return []

    monkeypatch.setattr("hengwen.runs.run_plan._estimate", record)
    return calls


def test_a_run_has_the_default_options_and_a_store_in_the_working_folder(plan: Path, runs: Calls) -> None:
    run_plan(plan)
    assert runs == [(load_plan(plan), "hengwen.db", RunOptions())]


def test_every_option_of_a_run_is_used(plan: Path, runs: Calls) -> None:
    options: dict[str, Any] = {
        "concurrency": 3,
        "limit": 2,
        "fresh": True,
        "budget": 1.5,
        "time_limit": 60.0,
        "progress": print,
    }
    run_plan(plan, store="x.db", options=RunOptions(**options))
    assert [call[1:] for call in runs] == [("x.db", RunOptions(**options))]


@each_row(("option", "value"), [("concurrency", 0), ("workers", 0)])
def test_numbers_of_calls_and_processes_count_from_1(option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{option} must be a whole number"):
        RunOptions(**{option: value})


def test_a_run_replaces_the_judge_and_the_repeats_of_its_plan(plan: Path, runs: Calls) -> None:
    run_plan(plan, judge="openai/tiny", base_url=URL, repeat=4)
    ((changed, _, _),) = runs
    (backend,) = changed.backends.values()
    assert (backend.provider, backend.model, backend.base_url) == ("openai", "tiny", URL)
    assert [task.repeats for task in changed.tasks] == [4]


def test_an_estimate_has_the_default_options_of_a_run(plan: Path, estimates: Calls) -> None:
    estimate_plan(plan)
    ((same, store, options),) = estimates
    assert (same, options) == (load_plan(plan), RunOptions())
    assert Path(store).name == "hengwen.db"
    assert plan.with_name("hengwen.db").exists()


def test_every_option_of_an_estimate_is_used(plan: Path, estimates: Calls) -> None:
    with open_store(plan.with_name("x.db")) as store:
        estimate_plan(
            plan,
            store=store,
            judge="openai/tiny",
            base_url=URL,
            options=RunOptions(limit=2, fresh=True),
            repeat=4,
        )
        ((changed, name, options),) = estimates
        assert name == store.name
    (backend,) = changed.backends.values()
    assert (backend.provider, backend.model, backend.base_url) == ("openai", "tiny", URL)
    assert [task.repeats for task in changed.tasks] == [4]
    assert options == RunOptions(limit=2, fresh=True)


def test_a_run_without_a_failure_names_no_message(plan: Path) -> None:
    with open_store(plan.with_name("x.db")) as store:
        result = run_plan(plan, store=store)
        assert (result.plan, result.store, len(result.runs)) == ("p", store.name, 1)
    assert (result.failures, result.first_messages, result.unscored) == ({}, {}, ())
    assert (result.warnings, result.out_of_budget) == ((), False)


def test_a_store_is_opened_by_its_path_and_closed_after_the_run(plan: Path) -> None:
    result = run_plan(plan, store=str(plan.with_name("x.db")))
    with open_store(plan.with_name("x.db")) as store:
        assert [run.id for run in store.runs()] == [run.id for run in result.runs]

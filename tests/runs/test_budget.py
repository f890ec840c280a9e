"""The budget that the runs of one command share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hengwen.errors import ConfigError
from hengwen.plans.plan import Plan
from hengwen.plans.suite import load_suite
from hengwen.runs.options import RunOptions
from hengwen.runs.resources import RunResources
from hengwen.store.store import open_store

PRICE = {"input": 1.0, "output": 2.0}


def resources(folder: Path, budget: float | None, **backend: Any) -> RunResources:
    """Return the resources of a plan with one backend that is not called."""
    (folder / "prompts.jsonl").write_text('{"id": "a", "input": "问"}\n', "utf-8")
    plan = Plan.model_validate(
        {
            "name": "p",
            "tasks": [{"name": "t", "samples": str(folder / "prompts.jsonl"), "scorers": ["length"]}],
            "backends": {"b": {"provider": "openai", "model": "m", **backend}},
            "checkpoints": [{"name": "c", "backend": "b"}],
        }
    )
    with open_store(folder / "x.db") as store:
        return RunResources(load_suite(plan), store, RunOptions(budget=budget))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")


@pytest.mark.parametrize("limit", [None, 0.0, 1.5])
def test_the_budget_has_the_limit_of_the_options(tmp_path: Path, limit: float | None) -> None:
    budget = resources(tmp_path, limit, price=PRICE).budget
    assert (budget.limit, budget.spent, budget.stopped) == (limit, 0.0, False)


def test_a_limit_needs_prices_and_no_limit_needs_none(tmp_path: Path) -> None:
    assert resources(tmp_path, None).budget.limit is None
    with pytest.raises(
        ConfigError, match="^a budget needs prices: backend 'b' has none; say --price IN,OUT, "
    ):
        resources(tmp_path, 0.0)

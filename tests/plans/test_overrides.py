"""Overrides of a plan for one run."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import each_row

from hengwen.errors import ConfigError
from hengwen.plans.overrides import resolve_plan
from hengwen.plans.plan import Plan


def plan(**task: object) -> Plan:
    return Plan.model_validate(
        {
            "name": "p",
            "tasks": [{"name": "t", "samples": Path("x.jsonl"), **task}],
            "checkpoints": [{"name": "c", "backend": "target"}],
            "backends": {"target": {"provider": "openai", "model": "m"}},
        }
    )


def test_one_model_replaces_the_models_of_all_judges() -> None:
    judges = [{"rubric": "lyric_craft"}, {"rubric": "muice_live", "panel": ["a", "b"], "quorum": 2}]
    resolved = resolve_plan(plan(judges=judges), judge="openai/gpt/x", base_url="http://localhost/v1")
    assert [judge.backend_names for judge in resolved.tasks[0].judges] == [["--judge"], ["--judge"]]
    backend = resolved.used_backends["--judge"]
    assert (backend.provider, backend.model, backend.base_url) == ("openai", "gpt/x", "http://localhost/v1")
    assert set(resolved.used_backends) == {"--judge", "target"}


def test_repeats_are_replaced_and_nothing_else() -> None:
    original = plan(scorers=["distinct_n"])
    assert resolve_plan(original) == original
    assert resolve_plan(original, repeat=3).tasks[0].repeats == 3


@each_row(
    ("overrides", "message"),
    [
        ({"judge": "openai/m"}, "plan 'p' has no judges that openai/m could replace"),
        ({"judge": "gpt"}, "--judge must be PROVIDER/MODEL, such as openai/gpt-4o-mini, got 'gpt'"),
        ({"repeat": 0}, "repeat counts from 1, got 0"),
    ],
    ids=["no judges", "no provider", "repeat 0"],
)
def test_wrong_overrides_are_refused(overrides: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        resolve_plan(plan(scorers=["distinct_n"]), **overrides)

"""A whole persona run with a real server as the judge: rules beside it, a persona, a published score."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from hengwen import open_store, run_plan
from hengwen.records import Score

pytestmark = pytest.mark.slow

BOTH = {"zh": "短评", "en": "short"}
RUBRIC = {
    "name": "small",
    "version": 1,
    "title": BOTH,
    "instructions": BOTH,
    "levels": {0: {"label": "Low", **BOTH}, 0.5: {"label": "Mid", **BOTH}, 1: {"label": "High", **BOTH}},
    "criteria": {"wit": BOTH, "form": BOTH},
    "uses": ["input", "response", "references", "persona"],
}
ANSWERS = {"a": ["drip drop on the roof", "drip drop on the roofs"], "b": ["# Rain", "rain again"]}


@pytest.fixture
def plan(tmp_path: Path, llama: str) -> Path:
    """Two samples, two answers each: one repeat, one heading."""
    samples = [{"id": name, "input": "Sing", "metadata": {"mood": f"mood {name}"}} for name in ANSWERS]
    answers = [
        {"id": name, "repeat": i, "output": text}
        for name, own in ANSWERS.items()
        for i, text in enumerate(own, 1)
    ]
    for name, rows in (("samples", samples), ("day", answers)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(RUBRIC), "utf-8")
    spec = {
        "name": "p",
        "tasks": [
            {
                "name": "live",
                "samples": "samples.jsonl",
                "prompt": {"system": "You are Rain, in {{ mood }}."},
                "repeats": 2,
                "rules": ["broken", "near_duplicate", "plain_text", "leakage"],
                "judges": [{"rubric": "small.yaml", "backend": "tiny", "language": "en"}],
                "scale": {"mean_times": 10},
            }
        ],
        "checkpoints": [{"name": "day", "responses": "day.jsonl"}],
        "backends": {
            "tiny": {
                "provider": "openai",
                "model": "tiny",
                "base_url": llama,
                "params": {"temperature": 1.0, "seed": 7, "max_tokens": 1500},
            }
        },
    }
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(spec), "utf-8")
    return path


def test_a_persona_run_with_rules_beside_a_real_judge(plan: Path, tmp_path: Path) -> None:
    result = run_plan(plan, store=tmp_path / "h.db")
    assert (result.failures, result.unscored, result.warnings) == ({}, (), ())
    with open_store(tmp_path / "h.db") as store:
        rows = list(store.rows(result.runs))
        calls = store.usage(result.runs)["judge"].calls
    outcomes = {
        (row.sample_id, row.repeat, row.score.name): row.outcome
        for row in rows
        if isinstance(row.outcome, Score)
    }
    raw = {key: outcomes[*key, "small.level"].value for key in _places()}
    final = {key: outcomes[*key, "small.final"].value for key in _places()}
    assert final == {**raw, ("a", 2): 0, ("b", 1): min(raw["b", 1], 0.5)}
    mean = sum(sum(final[name, i] for i in (1, 2)) / 2 for name in ANSWERS) / 2
    published = outcomes[None, None, "small.published"]
    assert published.value == pytest.approx(10 * mean)
    assert "openai/tiny" in published.signature
    again = run_plan(plan, store=tmp_path / "h.db")
    with open_store(tmp_path / "h.db") as store:
        assert store.usage(again.runs)["judge"].calls == calls >= len(_places())


def _places() -> list[tuple[str, int]]:
    return [(name, i) for name, own in ANSWERS.items() for i in range(1, len(own) + 1)]

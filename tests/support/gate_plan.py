"""A plan with gates and stored answers of any quality."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

SCORER = """\
from dataclasses import dataclass
from hengwen import Scale, Score


@dataclass(frozen=True)
class Tenths:
    names = ("tenths.value",)
    signature = "tenths|v:1"

    def score(self, sample, response):
        value = int(response.text.split()[0]) / 10
        scale = Scale(low=0, high=1)
        return [Score(name=self.names[0], value=value, signature=self.signature, scale=scale)]
"""
NAMES = [f"p{index}" for index in range(40)]
GATES = ["t/tenths.value >= 0.6 and coverage(t/tenths.value) >= 0.95", "no_drop(t/*, a)"]


def write(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def write_plan(checkpoints: dict[str, Any], gates: Sequence[object] = GATES, **more: object) -> None:
    """Write a plan with stored answers, a value in tenths for each prompt, or a backend for a checkpoint."""
    Path("tenths.py").write_text(SCORER, "utf-8")
    write("samples.jsonl", [{"id": name, "input": name} for name in NAMES])
    specs = []
    for checkpoint, values in checkpoints.items():
        if isinstance(values, str):
            specs.append({"name": checkpoint, "backend": values})
            continue
        rows = zip(NAMES, values, strict=False)
        write(f"{checkpoint}.jsonl", [{"id": name, "output": f"{value} x"} for name, value in rows])
        specs.append({"name": checkpoint, "responses": f"{checkpoint}.jsonl"})
    plan = {
        "name": "p",
        "tasks": [{"name": "t", "samples": "samples.jsonl", "scorers": ["tenths.py:Tenths"], "repeats": 1}],
        "checkpoints": specs,
        "gates": gates,
        **more,
    }
    Path("plan.yaml").write_text(yaml.safe_dump(plan), "utf-8")

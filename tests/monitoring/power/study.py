"""Plans and runs whose scores are the numbers in their answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from hengwen import Store, run_plan

SCORER = """\
from dataclasses import dataclass
from hengwen import Scale, Score


@dataclass(frozen=True)
class Tenths:
    version: int = 1
    names = ("tenths.value", "tenths.half")

    @property
    def signature(self) -> str:
        return f"tenths|v:{self.version}"

    def score(self, sample, response):
        value = float(response.text)
        rest = {"signature": self.signature, "scale": Scale(low=0, high=1)}
        values = zip(self.names, (value, value / 2))
        return [Score(name=name, value=value, **rest) for name, value in values]
"""
JUDGED = {
    "judges": [{"rubric": "persona_generic", "backend": "judge"}],
}
BACKEND = {
    "provider": "openai",
    "model": "m",
    "base_url": "http://127.0.0.1:9/v1",
    "price": {"input": 2.0, "output": 10.0},
}


def numbers(seed: int, prompts: int = 20, repeats: int = 3) -> np.ndarray:
    """Return values (prompts, repeats): variance .01 between prompts, half of it common; .02 within."""
    common = np.random.default_rng(99).normal(0, 0.005**0.5, prompts)
    rng = np.random.default_rng(seed)
    between = common + rng.normal(0, 0.005**0.5, prompts)
    return np.clip(0.5 + between[:, None] + rng.normal(0, 0.02**0.5, (prompts, repeats)), 0, 1).round(6)


@dataclass
class Study:
    """A folder with a plan and its store."""

    folder: Path
    store: Store

    def write(self, checkpoint: str, values: np.ndarray, **changes: Any) -> Path:
        """Write a plan whose checkpoint has these values, (prompts, repeats); return its path."""
        clusters = changes.pop("clusters", None)
        backends = changes.pop("backends", {})
        checkpoints = changes.pop("checkpoints", [{"name": checkpoint, "responses": f"{checkpoint}.jsonl"}])
        samples = [
            {"id": f"p{index}", "input": "问", **({"cluster": clusters[index]} if clusters else {})}
            for index in range(len(values))
        ]
        answers = [
            {"id": f"p{index}", "output": str(value), "repeat": repeat}
            for index, row in enumerate(values)
            for repeat, value in enumerate(row, start=1)
        ]
        (self.folder / "tenths.py").write_text(SCORER, "utf-8")
        for name, lines in (("samples", samples), (checkpoint, answers)):
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (self.folder / f"{name}.jsonl").write_text(text, "utf-8")
        task = {"name": "t", "samples": "samples.jsonl", "scorers": ["tenths.py:Tenths"], **changes}
        plan = {"name": "p", "tasks": [task], "checkpoints": checkpoints, "backends": backends}
        (self.folder / "plan.yaml").write_text(yaml.safe_dump(plan), "utf-8")
        return self.folder / "plan.yaml"

    def run(self, checkpoint: str, values: np.ndarray, **changes: Any) -> Path:
        """Run a plan whose checkpoint has these values; return its path."""
        plan = self.write(checkpoint, values, **changes)
        run_plan(plan, store=self.store, trust=True)
        return plan

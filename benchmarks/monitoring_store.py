"""Write a store with many checkpoints and scores, for benchmarks of monitoring.

    python benchmarks/monitoring_store.py STORE [--checkpoints 100] [--prompts 1000] [--scores 5]

A score is the sum of a part for its prompt, a part for its checkpoint, and a random part for the repeat. The
runs have an answer for each prompt and repeat, and the recorded facts of a real run, so that they are
comparable.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hengwen import Response, Row, Run, Sample, Scale, Score, open_store, run_plan
from hengwen.score_id import ScoreId

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen import Store

SCALE = Scale(low=0, high=1)
JITTER = 0.02
"""Standard deviation of the mean of a checkpoint."""


def write_store(path: Path, checkpoints: int, prompts: int, repeats: int, scores: int) -> int:
    """Write the store; return its number of scores."""
    ids = [ScoreId("t", f"score_{number}", "value") for number in range(1, scores + 1)]
    rng = np.random.default_rng(20261122)
    base = rng.normal(0.5, 0.1, (prompts, 1, scores))
    with open_store(path) as store:
        samples = [
            Sample(id=f"p{number}", input=f"第{number}题：写两行诗", task="t") for number in range(prompts)
        ]
        template = replace(
            _template(samples, repeats), score_order=tuple(score.address for score in ids), status="finished"
        )
        for number in range(checkpoints):
            run = replace(
                template,
                id=f"20260101-0000{number // 60:02}-{number:06x}",
                checkpoint=f"ckpt-{number:03}",
                order=number,
                step=1000 * number,
                started=f"2026-01-01T{number // 60:02}:{number % 60:02}:00+00:00",
            )
            values = base + rng.normal(0, JITTER, scores) + rng.normal(0, 0.1, (prompts, repeats, scores))
            _write_run(store, run, samples, np.clip(values, 0, 1), ids)
    return checkpoints * prompts * repeats * scores


def _template(samples: Sequence[Sample], repeats: int) -> Run:
    """Run the samples once, and return the record of this run, whose facts the other runs copy."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [json.dumps({"id": sample.id, "input": sample.text}) for sample in samples]
        (folder / "samples.jsonl").write_text("\n".join(lines), "utf-8")
        answers = [
            json.dumps({"id": sample.id, "output": "晚安", "repeat": repeat})
            for sample in samples
            for repeat in range(1, repeats + 1)
        ]
        (folder / "answers.jsonl").write_text("\n".join(answers), "utf-8")
        plan = {
            "name": "large",
            "tasks": [{"name": "t", "samples": "samples.jsonl", "scorers": ["length"]}],
            "checkpoints": [{"name": "ckpt", "responses": "answers.jsonl"}],
        }
        (folder / "plan.yaml").write_text(json.dumps(plan), "utf-8")
        return run_plan(folder / "plan.yaml", store="sqlite://").runs[0]


def _write_run(
    store: Store, run: Run, samples: Sequence[Sample], values: np.ndarray, ids: Sequence[ScoreId]
) -> None:
    ledger = store.ledger()
    ledger.begin(run)
    rows = []
    for sample, by_repeat in zip(samples, values.tolist(), strict=True):
        for repeat, numbers in enumerate(by_repeat, start=1):
            text = f"{run.checkpoint} {sample.id} {repeat}：天上的云，水里的星"
            response = Response(
                sample_id=sample.id, text=text, task="t", checkpoint=run.checkpoint, repeat=repeat
            )
            ledger.record_response(run.id, sample, response)
            for score, value in zip(ids, numbers, strict=True):
                outcome = Score(name=score.base, value=value, signature=f"{score.base}|v:1", scale=SCALE)
                rows.append(Row(run.id, score, run.checkpoint, sample.id, repeat, sample.id, outcome))
    ledger.record_rows(rows)
    ledger.commit()


def main() -> None:
    """Write the store that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", type=Path)
    for option, default in (("checkpoints", 100), ("prompts", 1000), ("repeats", 2), ("scores", 5)):
        parser.add_argument(f"--{option}", type=int, default=default)
    options = parser.parse_args()
    count = write_store(options.store, options.checkpoints, options.prompts, options.repeats, options.scores)
    print(f"{count:,} scores in {options.store}")


if __name__ == "__main__":
    main()

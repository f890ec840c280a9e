"""Measure whether a plan that generates and judges answers takes only as long as its slower stage.

    .venv/bin/python benchmarks/bench_stages.py [--count 2000] [--concurrency 64]

Two local servers answer after 50 ms and 200 ms; one is the model under test, and the other is the judge. The
plan is run as a user runs it, and before that with a single sample, which measures the time of the start.
Target: wall time without the start at most 1.1 times the time of the slower stage, which is
count x latency / concurrency.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_judges import stub


def write_plan(folder: Path, count: int, subject: str, judge: str) -> Path:
    """Write a plan whose answers and judgments come from two servers; return its path."""
    samples = [{"id": f"q{i}", "input": f"第{i}位船友问：今晚的风几点停？"} for i in range(count)]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in samples)
    (folder / "prompts.jsonl").write_text(text, "utf-8")
    plan = {
        "name": "stages",
        "tasks": [
            {
                "name": "t",
                "samples": "prompts.jsonl",
                "scorers": ["length"],
                "judges": [{"rubric": "persona_generic", "backend": "judge"}],
            }
        ],
        "checkpoints": [{"name": "a", "backend": "subject"}],
        "backends": {
            "subject": {"provider": "openai", "model": "stub", "base_url": subject},
            "judge": {"provider": "openai", "model": "stub", "base_url": judge},
        },
    }
    (folder / "plan.yaml").write_text(json.dumps(plan), "utf-8")
    return folder / "plan.yaml"


def seconds(plan: Path, store: Path, concurrency: int) -> float:
    """Return the wall time of a run."""
    command = [sys.executable, "-m", "hengwen", "run", str(plan), "--quiet", "--store", str(store)]
    begin = time.perf_counter()
    subprocess.run([*command, "-j", str(concurrency)], check=True, env={**os.environ, "OPENAI_API_KEY": "x"})
    return time.perf_counter() - begin


def main() -> None:
    """Print a line for each order of the two latencies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=64)
    options = parser.parse_args()
    print(f"{'subject':>8} {'judge':>8} {'slower stage':>13} {'wall':>8} {'ratio':>6}")
    for subject, judge in ((0.05, 0.2), (0.2, 0.05)):
        with stub(subject) as one, stub(judge) as other, tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            start = seconds(write_plan(folder, 1, one, other), folder / "1.db", options.concurrency)
            start -= subject + judge
            plan = write_plan(folder, options.count, one, other)
            wall = seconds(plan, folder / "2.db", options.concurrency) - start
        slower = options.count * max(subject, judge) / options.concurrency
        latencies = f"{subject * 1000:5.0f} ms {judge * 1000:5.0f} ms"
        print(f"{latencies} {slower:11.2f} s {wall:6.2f} s {wall / slower:6.2f}")


if __name__ == "__main__":
    main()

"""Measure the memory of a run over many samples, which must not grow with the number of samples.

    .venv/bin/python benchmarks/bench_stream.py [--counts 50000 200000]

Samples and stored answers have some hundred characters; the plan has one cheap scorer, and the store is a
SQLite file. Each number of samples runs in its own process, and then once more with the finished store.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def write_plan(folder: Path, count: int) -> Path:
    """Write samples, answers and a plan; return the path of the plan."""
    with (
        (folder / "s.jsonl").open("w", encoding="utf-8") as samples,
        (folder / "a.jsonl").open("w") as answers,
    ):
        for number in range(count):
            text = f"第{number}个问题：" + "今晚的风几点停？" * 20
            samples.write(json.dumps({"id": f"q{number}", "input": text}, ensure_ascii=False) + "\n")
            answers.write(json.dumps({"id": f"q{number}", "output": text[::-1]}) + "\n")
    plan = {
        "name": "stream",
        "tasks": [{"name": "t", "samples": "s.jsonl", "scorers": ["length"]}],
        "checkpoints": [{"name": "a", "responses": "a.jsonl"}],
    }
    (folder / "plan.yaml").write_text(json.dumps(plan))
    return folder / "plan.yaml"


def leg(plan: Path) -> None:
    """Run a plan; print its seconds, and its megabytes without those of the imports."""
    from hengwen import run_plan

    with tempfile.TemporaryDirectory() as name:
        run_plan(write_plan(Path(name), 1), store=Path(name) / "warm.db")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    result = run_plan(plan, store=plan.with_name("x.db"))
    assert not result.failures
    above = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(json.dumps([time.perf_counter() - begin, above]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--counts", type=int, nargs="+", default=[50_000, 200_000])
    parser.add_argument("--leg", type=Path)
    options = parser.parse_args()
    if options.leg:
        leg(options.leg)
        return
    print(f"{'samples':>10} {'run':>8} {'seconds':>8} {'MB above the imports':>21}")
    for count in options.counts:
        with tempfile.TemporaryDirectory() as name:
            plan = write_plan(Path(name), count)
            for attempt in ("first", "again"):
                command = [sys.executable, __file__, "--leg", str(plan)]
                process = subprocess.run(command, capture_output=True, text=True, check=True)
                seconds, above = json.loads(process.stdout)
                print(f"{count:>10,} {attempt:>8} {seconds:>8.1f} {above:>21.0f}")


if __name__ == "__main__":
    main()

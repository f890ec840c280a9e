"""Measure ``hengwen run`` with a judge as a user runs it: start, calls, report and JSON output included.

    .venv/bin/python benchmarks/bench_judge_run.py [--count 2000] [--rounds 3] [--latency 0.05]

A local server answers each call after the latency; 64 calls are open at a time. The CPU time of a run with
one judgment is subtracted, which is the start of the program. Output: CPU time per judgment, wall time as a
multiple of the ideal time (count x latency / 64), and peak memory. Targets: 1.1 ms of CPU a judgment, 170 MB.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_judges import stub, write_plan

CONCURRENCY = 64


def run(count: int, url: str) -> tuple[float, float, float]:
    """Return CPU seconds, wall seconds and peak megabytes of one ``hengwen run``."""
    with tempfile.TemporaryDirectory() as folder:
        plan = write_plan(Path(folder), count, url)
        options = ["--store", f"{folder}/x.db", "-o", f"{folder}/r.html", "--json"]
        command = [sys.executable, "-m", "hengwen", "run", str(plan), *options]
        command += ["--concurrency", str(CONCURRENCY), "--trust"]
        environment = {**os.environ, "OPENAI_API_KEY": "none"}
        started = time.perf_counter()
        with (Path(folder) / "out").open("w") as out:
            process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        if os.waitstatus_to_exitcode(status):
            sys.exit(f"hengwen run ended with {status}: {(Path(folder) / 'out').read_text()[-500:]}")
        return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def main() -> None:
    """Print the medians of all rounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.05)
    arguments = parser.parse_args()
    count = arguments.count
    with stub(arguments.latency) as url:
        starts = [run(1, url) for _ in range(arguments.rounds)]
        runs = [run(count, url) for _ in range(arguments.rounds)]
    start = statistics.median(cpu for cpu, _, _ in starts)
    costs = [1000 * (cpu - start) / (count - 1) for cpu, _, _ in runs]
    ideal = count * arguments.latency / CONCURRENCY
    walls = [wall for _, wall, _ in runs]
    print(f"start: {start:.2f} s of CPU, {statistics.median(wall for _, wall, _ in starts):.2f} s")
    print(
        f"{count} judgments: {statistics.median(costs):.2f} ms of CPU each "
        f"({min(costs):.2f} to {max(costs):.2f})"
    )
    print(
        f"wall: {statistics.median(walls):.2f} s, {statistics.median(walls) / ideal:.2f} times the ideal time"
    )
    print(f"peak memory: {max(memory for _, _, memory in runs):.0f} MB")


if __name__ == "__main__":
    main()

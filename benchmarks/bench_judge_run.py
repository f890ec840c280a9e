"""Measure ``hengwen run`` with a judge as a user runs it: start, calls, report and JSON output included.

    .venv/bin/python benchmarks/bench_judge_run.py [--count 2000] [--rounds 3] [--latency 0.05]

A local server answers each call after the latency; 64 calls are open at a time. The CPU time of a run with
one judgment, which is mostly the start of the program, is subtracted. Figures: CPU time per judgment, wall
time as a multiple of the ideal time (count x latency / 64), peak memory, and size of the store.
Targets: 1.1 ms of CPU a judgment, 170 MB.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench_judges import write_plan
from harness.figures import Figure, print_entries, script_parser
from harness.processes import Usage, run_process, stub

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

CONCURRENCY = 64


def run(count: int, url: str) -> tuple[Usage, int]:
    """Return the cost of one ``hengwen run``, and the size of its store in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        plan = write_plan(Path(folder), count, url)
        options = ["--store", f"{folder}/x.db", "-o", f"{folder}/r.html", "--json", "--trust", "--strict"]
        command = [sys.executable, "-m", "hengwen", "run", str(plan), *options]
        usage = run_process([*command, "--concurrency", str(CONCURRENCY)], OPENAI_API_KEY="none")
        return usage, sum(file.stat().st_size for file in Path(folder).glob("x.db*"))


def figures(options: argparse.Namespace) -> Iterator[Figure]:
    """Measure runs with one judgment, and runs with many."""
    count = options.count
    with stub(options.latency) as server:
        starts = [run(1, server.url) for _ in range(options.rounds)]
        for usage, _ in starts:
            yield Figure(case="run with one judgment", value=usage.cpu, unit="s of CPU")
            yield Figure(case="run with one judgment", value=usage.wall, unit="s")
        start = statistics.median(usage.cpu for usage, _ in starts)
        empty = statistics.median(size for _, size in starts)
        ideal = count * options.latency / CONCURRENCY
        for _ in range(options.rounds):
            usage, size = run(count, server.url)
            case = f"run with {count:,} judgments"
            cost = 1000 * (usage.cpu - start) / (count - 1)
            yield Figure(case=f"{case}: each, beyond the start", value=cost, unit="ms of CPU", high=1.1)
            yield Figure(case=f"{case}: peak memory", value=usage.megabytes, unit="MB", high=170)
            bytes_each = (size - empty) / (count - 1)
            yield Figure(case=f"{case}: store, a judgment", value=bytes_each, unit="bytes")
            yield Figure(case=f"{case}: start included", value=usage.wall / ideal, unit="x ideal time")


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=3)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--latency", type=float, default=0.05)
    options = parser.parse_args()
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

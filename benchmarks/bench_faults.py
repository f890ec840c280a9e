"""Time the judging of answers by an endpoint that refuses or fails some calls, or limits the calls a second.

    .venv/bin/python benchmarks/bench_faults.py [--count 1000] [--limited 600] [--rounds 3]

A call takes 50 ms; 64 calls are sent at a time. A refusal is immediate and asks to retry after 1 s. Targets:
1,000 judgments take at most 6 s if 5 % of the calls are refused and 5 % fail. If only 20 calls a second are
allowed, at most 5 % of the calls are refused, and at least 90 % of the allowed rate is reached.
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

from bench_judges import write_plan

RATE = 20.0
RANDOM_FAULTS = ("--refuse", "0.05", "--fail", "0.05")


def judge(count: int, *faults: str) -> tuple[float, dict[int, int]]:
    """Return the seconds of a run, and the number of the endpoint's replies by HTTP status."""
    stub = [sys.executable, str(Path(__file__).with_name("judge_stub.py")), "0.05", *faults]
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen(stub, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        from hengwen import run_plan

        plan = write_plan(Path(name), count, url)
        begin = time.perf_counter()
        result = run_plan(plan, store=Path(name) / "x.db", concurrency=64)
        seconds = time.perf_counter() - begin
        assert not result.failures, result.failures
        server.stdin.close()
        counts = {int(status): number for status, number in json.loads(server.stdout.readline()).items()}
    assert counts[200] == count, counts
    return seconds, counts


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--limited", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = "x"
    judge(10)  # import the modules
    for _ in range(options.rounds):
        seconds, counts = judge(options.count, *RANDOM_FAULTS)
        print(
            f"5 % refused, 5 % failed: {options.count} judgments in {seconds:.1f} s; "
            f"{counts.get(429, 0)} refused, {counts.get(500, 0)} failed",
            flush=True,
        )
    for _ in range(options.rounds):
        seconds, counts = judge(options.limited, "--rate", f"{RATE:g}")
        allowed = RATE + RATE * seconds  # RATE calls at once, then RATE a second
        print(
            f"{RATE:g} a second: {options.limited} judgments in {seconds:.1f} s, "
            f"{options.limited / allowed:.0%} of the allowed rate; "
            f"{counts.get(429, 0)} refused ({counts.get(429, 0) / sum(counts.values()):.1%})",
            flush=True,
        )


if __name__ == "__main__":
    main()

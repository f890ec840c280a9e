"""Count the calls of two processes that run one plan on one store at the same time.

    .venv/bin/python benchmarks/bench_two_processes.py [--count 400] [--times 3]

The second process is refused, waits (``--wait``), or takes over when the first one is killed. Every judgment
needs one call; each further call is one that is paid for twice.
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

STUB = Path(__file__).with_name("judge_stub.py")


def run(folder: Path, plan: Path, *options: str) -> subprocess.Popen[str]:
    """Start ``hengwen run``."""
    command = [sys.executable, "-m", "hengwen", "run", str(plan), "-q", "--store", f"{folder}/x.db", *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def calls_of(count: int, *, wait: bool, kill: bool) -> tuple[int, int, float]:
    """Run a plan in two processes.

    Args:
        count: Judgments of the plan.
        wait: Whether the second process waits for the first.
        kill: Whether the first process is killed after 1.5 seconds.

    Returns:
        Number of calls, exit code of the second process, and seconds of both together.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [sys.executable, str(STUB), "0.05"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stub:
            assert stub.stdin is not None
            assert stub.stdout is not None
            plan = write_plan(folder, count, f"http://127.0.0.1:{stub.stdout.readline().strip()}/v1")
            start = time.monotonic()
            first = run(folder, plan)
            while not list(folder.glob("*.lock")):
                time.sleep(0.01)
            second = run(folder, plan, *(["--wait"] if wait else []))
            if kill:
                time.sleep(1.5)
                first.kill()
            code = second.wait()
            first.wait()
            seconds = time.monotonic() - start
            stub.stdin.close()
            calls = sum(json.loads(stub.stdout.read()).values())
    return calls, code, seconds


def main() -> None:
    """Print the counts of all runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = "x"
    for name, wait, kill in (("refused", False, False), ("waits", True, False), ("takes over", True, True)):
        for _ in range(options.times):
            calls, code, seconds = calls_of(options.count, wait=wait, kill=kill)
            print(
                f"{name}: {calls} calls for {options.count} judgments, exit {code}, {seconds:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()

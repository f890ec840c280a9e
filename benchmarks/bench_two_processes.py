"""Count and time the calls of two processes that run one plan on one store at the same time.

    .venv/bin/python benchmarks/bench_two_processes.py [--count 1000] [--rounds 3]

The second process is refused, waits (``--wait``), or takes over when the first one is killed, which is when
half of the replies are stored. Every judgment needs one call; each further call is paid for twice. Targets:
no further calls without a kill, and otherwise at most as many as were in flight at the kill.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench_judges import write_plan
from harness.figures import Figure, Problem, print_entries, script_parser
from harness.processes import stub

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from harness.figures import Entry
    from harness.processes import StubServer

LATENCY = 0.05
IN_FLIGHT = 16
"""Calls in flight of `hengwen run` by default."""
REFUSED = 1
"""Exit code of a process whose plan another process runs."""


class UnmeasuredError(RuntimeError):
    """The processes did not run at the same time, or a process failed, so there is no figure."""


@contextmanager
def run(plan: Path, store: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start ``hengwen run``; kill it at the end if it is still running."""
    command = [sys.executable, "-m", "hengwen", "run", str(plan), "-q", "--strict", "--store", store]
    command += options
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def check_running(process: subprocess.Popen[bytes]) -> None:
    """Check that a process has not ended.

    Raises:
        UnmeasuredError: If it has ended.
    """
    if process.poll() is not None:
        raise UnmeasuredError(f"the first process ended too early, with code {process.returncode}")


def check(calls: int, count: int, codes: list[int], expected: list[int]) -> None:
    """Check that there were enough calls, and that the processes ended with the expected codes.

    Raises:
        UnmeasuredError: If there were fewer calls than judgments, or a process ended with another code.
    """
    if codes != expected:
        raise UnmeasuredError(f"the processes ended with codes {codes}, expected {expected}")
    if calls < count:
        raise UnmeasuredError(f"{calls} calls are not enough for {count} judgments")


@contextmanager
def stubbed_plan(count: int) -> Iterator[tuple[Path, StubServer]]:
    """Yield a plan whose judge is a local server, and the server, which counts the calls."""
    with tempfile.TemporaryDirectory() as name, stub(LATENCY) as server:
        yield write_plan(Path(name), count, server.url), server


def calls_of(count: int, *, wait: bool, kill: bool) -> tuple[int, float]:
    """Run a plan in two processes.

    Args:
        count: Judgments of the plan.
        wait: Whether the second process waits for the first.
        kill: Whether the first process is killed when half of the replies are stored.

    Returns:
        Number of calls, and seconds of both processes together.

    Raises:
        UnmeasuredError: If the first process ended before the second one met it, or a process failed.
    """
    with stubbed_plan(count) as (plan, server):
        store = f"{plan.parent}/x.db"
        start = time.monotonic()
        with run(plan, store) as first:
            while not list(plan.parent.glob("*.lock")):
                check_running(first)
                time.sleep(0.01)
            with run(plan, store, *(["--wait"] if wait else [])) as second:
                if kill:
                    wait_for_replies(f"sqlite:///{store}", count // 2, first)
                    first.kill()
                codes = [first.wait(), second.wait()]
        seconds = time.monotonic() - start
    calls = sum(server.counts.values())
    check(calls, count, codes, [-signal.SIGKILL if kill else 0, 0 if wait else REFUSED])
    return calls, seconds


def wait_for_replies(store: str, count: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until the database has a number of replies, while a process is running."""
    from sqlalchemy import create_engine, inspect, text

    engine = create_engine(store)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while not inspect(connection).has_table("attempt"):
            check_running(process)
            time.sleep(0.01)
        while connection.execute(text("SELECT count(*) FROM attempt")).scalar_one() < count:
            check_running(process)
            time.sleep(0.01)
    engine.dispose()
    check_running(process)


def figures(options: argparse.Namespace) -> Iterator[Entry]:
    """Measure what a second process of a plan does."""
    count = options.count or 1000  # takes three seconds, in which the second process starts
    for name, wait, kill in (
        ("is refused", False, False),
        ("waits", True, False),
        ("takes over", True, True),
    ):
        most = count + (IN_FLIGHT if kill else 0)
        case = f"{count:,} judgments, the second process {name}"
        for _ in range(options.rounds):
            try:
                calls, seconds = calls_of(count, wait=wait, kill=kill)
            except UnmeasuredError as error:
                yield Problem(case=case, message=str(error))
                continue
            yield Figure(case=case, value=calls, unit="calls", high=most)
            yield Figure(case=case, value=seconds, unit="s")


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=3)
    parser.add_argument("--count", type=int)
    options = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = "none"
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

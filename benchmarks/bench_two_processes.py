"""Count and time the calls of two processes that run one plan on one store at the same time.

    .venv/bin/python benchmarks/bench_two_processes.py [--count 1000] [--rounds 3]
    .venv/bin/python benchmarks/bench_two_processes.py --share [--in-flight 64] [--latency 0.05]

Without ``--share``, on a SQLite file, the second process is refused, waits (``--wait``), or takes over when
the first one is killed. With ``--share``, the benchmark starts a PostgreSQL server and measures four cases:
one process without ``--share``, one process with it, two processes that share the plan, and two of which the
first is killed. Every judgment needs one call; each further call is paid for twice. Targets: no further
calls without a kill, and otherwise at most as many as were in flight at the kill. The first process is killed
when half of the replies are stored.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
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

SERVER = Path(__file__).parents[1] / "tests" / "support"
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
def stubbed_plan(count: int, latency: float = LATENCY) -> Iterator[tuple[Path, StubServer]]:
    """Yield a plan whose judge is a local server, and the server, which counts the calls."""
    with tempfile.TemporaryDirectory() as name, stub(latency) as server:
        yield write_plan(Path(name), count, server.url), server


def calls_of(count: int, *, wait: bool, kill: bool) -> tuple[int, float]:
    """Run a plan in two processes that do not share it.

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


def shared_calls_of(
    count: int, latency: float, store: str, options: list[str], *, processes: int, kill: bool
) -> list[float]:
    """Run a plan in processes that start together.

    Args:
        count: Judgments of the plan.
        latency: Seconds of a call.
        store: URL of an empty database.
        options: Options of ``hengwen run``.
        processes: Number of processes.
        kill: Whether the first process is killed when half of the replies are stored.

    Returns:
        Number of calls, seconds until the last process ended, CPU milliseconds of all processes a judgment.

    Raises:
        UnmeasuredError: If the first process ended before it was killed, or a process failed.
    """
    with stubbed_plan(count, latency) as (plan, server), ExitStack() as stack:
        start = time.monotonic()
        running = [stack.enter_context(run(plan, store, *options)) for _ in range(processes)]
        if kill:
            wait_for_replies(store, count // 2, running[0])
            running[0].kill()
        cpu = 0.0
        for process in running:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            cpu += usage.ru_utime + usage.ru_stime
        seconds = time.monotonic() - start
        codes = [process.returncode for process in running]
    calls = sum(server.counts.values())
    check(calls, count, codes, [-signal.SIGKILL if kill else 0, *[0] * (processes - 1)])
    return [calls, seconds, 1000 * cpu / count]


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


@contextmanager
def databases() -> Iterator[Iterator[str]]:
    """Start a PostgreSQL server, and yield the URLs of empty databases on it."""
    sys.path.insert(0, str(SERVER))
    from postgres_server import running_server
    from sqlalchemy import create_engine

    def create(server: str) -> Iterator[str]:
        engine = create_engine(server.format(name="postgres"), isolation_level="AUTOCOMMIT")
        number = 0
        while True:
            number += 1
            with engine.connect() as connection:
                connection.exec_driver_sql(f"CREATE DATABASE bench{number}")
            yield server.format(name=f"bench{number}")

    with running_server() as server:
        yield create(server)


def figures(options: argparse.Namespace) -> Iterator[Entry]:
    """Measure two processes that do not share a plan."""
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


def sharing_figures(options: argparse.Namespace) -> Iterator[Entry]:
    """Measure processes that run a plan alone or share it; the cases alternate in each round."""
    count = options.count or 2000
    words = ["-j", str(options.in_flight)]
    kinds = {
        "one process alone": (words, 1, False),
        "one process, --share": ([*words, "--share"], 1, False),
        "two processes, --share": ([*words, "--share"], 2, False),
        "two processes, --share, one killed": ([*words, "--share"], 2, True),
    }
    with databases() as urls:
        for _ in range(options.rounds):
            for name, (arguments, processes, kill) in kinds.items():
                case = f"{count:,} judgments on PostgreSQL, {name}"
                try:
                    calls, seconds, cpu = shared_calls_of(
                        count, options.latency, next(urls), arguments, processes=processes, kill=kill
                    )
                except UnmeasuredError as error:
                    yield Problem(case=case, message=str(error))
                    continue
                most = count + (options.in_flight if kill else 0)
                yield Figure(case=case, value=calls, unit="calls", high=most)
                yield Figure(case=case, value=seconds, unit="s")
                yield Figure(case=f"{case}: a judgment", value=cpu, unit="ms of CPU")


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=3)
    parser.add_argument("--count", type=int)
    parser.add_argument("--share", action="store_true")
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--latency", type=float, default=LATENCY, help="seconds of a call, with --share")
    options = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = "none"
    entries = sharing_figures(options) if options.share else figures(options)
    print_entries(entries, as_json=options.json)


if __name__ == "__main__":
    main()

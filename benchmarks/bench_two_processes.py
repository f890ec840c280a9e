"""Count and time the calls of two processes that run one plan on one store at the same time.

    .venv/bin/python benchmarks/bench_two_processes.py [--count 400] [--times 3]
    .venv/bin/python benchmarks/bench_two_processes.py --share [--in-flight 64] [--latency 0.05]

Without ``--share``, on a SQLite file, the second process is refused, waits (``--wait``), or takes over when
the first one is killed. With ``--share``, on a PostgreSQL server that the benchmark starts, one process runs
the plan alone, one shares it with nobody, two share it, and of two the first is killed half-way. Every
judgment needs one call; each further call is one that is paid for twice.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench_judges import write_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

STUB = Path(__file__).with_name("judge_stub.py")
SERVER = Path(__file__).parents[1] / "tests" / "support"


def run(plan: Path, store: str, *options: str) -> subprocess.Popen[str]:
    """Start ``hengwen run``."""
    command = [sys.executable, "-m", "hengwen", "run", str(plan), "-q", "--store", store, *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@contextmanager
def stubbed_plan(count: int, latency: float = 0.05) -> Iterator[tuple[Path, list[int]]]:
    """Yield a plan whose judge is a local server, and a list that gets the number of calls at the end."""
    calls: list[int] = []
    command = [sys.executable, str(STUB), str(latency)]
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stub,
    ):
        assert stub.stdin is not None
        assert stub.stdout is not None
        yield write_plan(Path(name), count, f"http://127.0.0.1:{stub.stdout.readline().strip()}/v1"), calls
        stub.stdin.close()
        calls.append(sum(json.loads(stub.stdout.read()).values()))


def calls_of(count: int, *, wait: bool, kill: bool) -> tuple[int, int, float]:
    """Run a plan in two processes that do not share it.

    Args:
        count: Judgments of the plan.
        wait: Whether the second process waits for the first.
        kill: Whether the first process is killed after 1.5 seconds.

    Returns:
        Number of calls, exit code of the second process, and seconds of both together.
    """
    with stubbed_plan(count) as (plan, calls):
        store = f"{plan.parent}/x.db"
        start = time.monotonic()
        first = run(plan, store)
        while not list(plan.parent.glob("*.lock")):
            time.sleep(0.01)
        second = run(plan, store, *(["--wait"] if wait else []))
        if kill:
            time.sleep(1.5)
            first.kill()
        code = second.wait()
        first.wait()
        seconds = time.monotonic() - start
    return calls[0], code, seconds


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
    """
    with stubbed_plan(count, latency) as (plan, calls):
        start = time.monotonic()
        running = [run(plan, store, *options) for _ in range(processes)]
        if kill:
            wait_for_replies(store, count // 2)
            running[0].kill()
        cpu = 0.0
        for process in running:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            assert process.returncode == 0 or (kill and process is running[0])
            cpu += usage.ru_utime + usage.ru_stime
        seconds = time.monotonic() - start
    return [calls[0], seconds, 1000 * cpu / count]


def wait_for_replies(store: str, count: int) -> None:
    """Wait until the database has a number of replies."""
    from sqlalchemy import create_engine, inspect, text

    engine = create_engine(store)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while not inspect(connection).has_table("attempt"):
            time.sleep(0.01)
        while connection.execute(text("SELECT count(*) FROM attempt")).scalar_one() < count:
            time.sleep(0.01)
    engine.dispose()


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


def main() -> None:
    """Print the counts of all runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--share", action="store_true")
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.05)
    options = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = "x"
    if options.share:
        compare_sharing(options.count or 2000, options.latency, options.times, ["-j", str(options.in_flight)])
        return
    count = options.count or 400
    for name, wait, kill in (("refused", False, False), ("waits", True, False), ("takes over", True, True)):
        for _ in range(options.times):
            calls, code, seconds = calls_of(count, wait=wait, kill=kill)
            print(f"{name}: {calls} calls for {count} judgments, exit {code}, {seconds:.1f} s", flush=True)


def compare_sharing(count: int, latency: float, times: int, options: list[str]) -> None:
    """Print calls, seconds and CPU time of processes that run a plan alone or share it; interleaved."""
    kinds = {
        "one process alone": (options, 1, False),
        "one process, --share": ([*options, "--share"], 1, False),
        "two processes, --share": ([*options, "--share"], 2, False),
        "two processes, --share, one killed": ([*options, "--share"], 2, True),
    }
    results: dict[str, list[list[float]]] = {name: [] for name in kinds}
    with databases() as urls:
        for _ in range(times):
            for name, (words, processes, kill) in kinds.items():
                results[name].append(
                    shared_calls_of(count, latency, next(urls), words, processes=processes, kill=kill)
                )
    for name, rows in results.items():
        calls, seconds, cpu = (sorted(column) for column in zip(*rows, strict=True))
        print(
            f"{name}: {[int(number) for number in calls]} calls for {count} judgments; "
            f"median {statistics.median(seconds):.1f} s ({seconds[0]:.1f} to {seconds[-1]:.1f}), "
            f"CPU {statistics.median(cpu):.2f} ms a judgment ({cpu[0]:.2f} to {cpu[-1]:.2f})",
            flush=True,
        )


if __name__ == "__main__":
    main()

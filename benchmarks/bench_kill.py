"""Count the replies that are paid for twice when a run is killed at a random moment and then continued.

    .venv/bin/python benchmarks/bench_kill.py [--count 1000] [--rounds 6] [--in-flight 16 64] [--kills 200]

A local server answers after 50 ms and logs the question of each reply. A reply counts as paid for
twice if the server sent it before the kill and the continued run requests it again. Replies that the killed
process had not read yet are counted separately: the server recognizes them, because Linux resets a connection
that ends with unread data.
Targets: at most 5 replies that were read are paid for twice after SIGKILL, and none after SIGTERM.

Then runs of two scorers and a judge are killed again and again, ``--kills`` times, at 24 calls in flight and
at random numbers of rows in the store, from the first score to the last verdict. These runs are forked from
a process that has loaded Hengwen, which saves most of the time of a kill.
Targets: each run ends with the scores of a run that was never killed, and a kill costs at most the calls in
flight.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from bench_judges import write_plan
from harness.figures import Figure, print_entries, script_parser
from judge_stub import REPLY, Stub

if TYPE_CHECKING:
    from collections.abc import Iterator

LATENCY = 0.05
IN_FLIGHT = 24
OFTEN_COUNT, OFTEN_KILLS = 400, 20
"""Answers of a run that is killed often, and how often."""
STEPS = 4
"""Rows that the store has for an answer: two scores, a call of the judge and its verdict."""
MAX_PAID_TWICE = {signal.SIGKILL: 5, signal.SIGTERM: 0}


class LoggingStub(Stub):
    """Writes a line for each reply: the time, "sent" (or "unread" if it was never read) and the question."""

    log = -1

    def __init__(self) -> None:
        super().__init__()
        self._last_reply = ""

    def data_received(self, data: bytes) -> None:
        self._last_reply = ""  # the client has read the last reply
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            length = int(re.search(rb"content-length: *(\d+)", self._data[:end].lower())[1])  # type: ignore[index]
            body, rest = self._data[end + 4 : end + 4 + length], self._data[end + 4 + length :]
            if len(body) < length:
                return
            self._data = rest
            question = re.findall("第(\\d+)位船友问", body.decode())[-1]
            asyncio.get_running_loop().call_later(LATENCY, self._send, question)

    def _send(self, question: str) -> None:
        if not self._transport.is_closing():
            self._transport.write(REPLY)  # type: ignore[attr-defined]
            self._last_reply = question
            self._write("sent", question)

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None and self._last_reply:
            self._write("unread", self._last_reply)

    def _write(self, event: str, question: str) -> None:
        os.write(self.log, f"{time.monotonic():.6f} {event} {question}\n".encode())


async def serve(log: Path) -> None:
    """Print the port, and serve until standard input closes."""
    LoggingStub.log = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(LoggingStub, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


def replies(log: Path, event: str = "sent") -> list[tuple[float, str]]:
    """Return (time, question) of the logged replies that were sent, or of those that were never read."""
    lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return [(float(logged_at), question) for logged_at, kind, question in lines if kind == event]


def paid_twice(count: int, in_flight: int, stop_signal: signal.Signals) -> tuple[int, int]:
    """Kill a run between a third and two thirds of its replies, continue it, and count repeated replies.

    Returns:
        Numbers of replies paid for twice: those that the killed run had read, and those that it had not.
    """
    with tempfile.TemporaryDirectory() as name:
        folder, log = Path(name), Path(name) / "log"
        command = [sys.executable, __file__, "--serve", str(log)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stub:
            assert stub.stdout is not None
            plan = write_plan(folder, count, f"http://127.0.0.1:{stub.stdout.readline().strip()}/v1")
            run = [sys.executable, "-m", "hengwen", "run", str(plan), "--quiet", "--store", f"{name}/x.db"]
            run += ["-j", str(in_flight)]
            with subprocess.Popen(run, stderr=subprocess.DEVNULL) as first:
                while len(replies(log)) < count // 3:
                    assert first.poll() is None, "the run ended before it was killed"
                    time.sleep(0.005)
                time.sleep(random.random() * count / 3 * LATENCY / in_flight)
                killed_at = time.monotonic()
                first.send_signal(stop_signal)
            before = replies(log)
            subprocess.run(run, check=True)
            unread = {question for _, question in replies(log, "unread")}
            after = {question for _, question in replies(log)[len(before) :]}
            if stub.stdin is not None:
                stub.stdin.close()
        assert after | {question for _, question in before} == {str(number) for number in range(count)}
        twice = after & {question for time_sent, question in before if time_sent < killed_at}
        return len(twice - unread), len(twice & unread)


def scores_of(store: Path) -> list[str]:
    """Return the sorted scores of the only run of a store."""
    from hengwen import open_store

    with open_store(store) as opened:
        (run,) = opened.runs()
        return sorted(f"{row.sample_id} {row.repeat} {row.outcome}" for row in opened.rows([run]))


def progress(store: Path) -> int:
    """Return the number of scores and calls that a store has."""
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=60)) as connection:
            query = "SELECT (SELECT count(*) FROM evaluation) + (SELECT count(*) FROM attempt)"
            (rows,) = connection.execute(query).fetchone()
    except sqlite3.OperationalError:  # the run has not made its tables yet
        return 0
    return int(rows)


def run_to_end(plan: Path, store: Path) -> None:
    """Run a plan in this process."""
    from hengwen import RunOptions, run_plan

    run_plan(plan, store=store, options=RunOptions(concurrency=IN_FLIGHT))


def killed_often(folder: Path, count: int, kills: int) -> list[int]:
    """Kill a run up to ``kills`` times and finish it; return the replies that each kill cost.

    Raises:
        AssertionError: The scores differ from those of a run that was never killed.
    """
    log = folder / "log"
    command = [sys.executable, __file__, "--serve", str(log)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stub:
        assert stub.stdout is not None
        plan = write_plan(folder, count, f"http://127.0.0.1:{stub.stdout.readline().strip()}/v1")
        settings = json.loads(plan.read_text("utf-8"))
        settings["tasks"][0]["scorers"] = ["distinct_n", "length"]
        plan.write_text(json.dumps(settings), "utf-8")
        run_to_end(plan, folder / "whole.db")  # here, so that the forks have loaded everything
        before = len(replies(log))
        started_at: list[float] = []
        for _ in range(kills):
            goal = progress(folder / "x.db") + random.randint(1, max(2, 3 * STEPS * count // (2 * kills)))
            run = multiprocessing.get_context("fork").Process(target=run_to_end, args=(plan, folder / "x.db"))
            started_at.append(time.monotonic())
            run.start()
            while run.is_alive() and progress(folder / "x.db") < goal:
                run.join(0.005)
            run.join(random.random() * LATENCY)
            if not run.is_alive():
                started_at.pop()
                break
            run.kill()
            run.join()
        run_to_end(plan, folder / "x.db")
        if stub.stdin is not None:
            stub.stdin.close()
    sent = replies(log)[before:]
    assert scores_of(folder / "x.db") == scores_of(folder / "whole.db")
    last = {question: moment for moment, question in sent}
    repeated = [moment for moment, question in sent if moment < last[question]]
    costs = [0] * len(started_at)
    for moment in repeated:
        costs[bisect_right(started_at, moment) - 1] += 1
    return costs


def figures(options: argparse.Namespace) -> Iterator[Figure]:
    """Kill runs with both signals, then runs of scorers and judges often."""
    costs: list[int] = []
    while len(costs) < options.kills:
        with tempfile.TemporaryDirectory() as name:
            costs += killed_often(Path(name), OFTEN_COUNT, min(OFTEN_KILLS, options.kills - len(costs)))
    if costs:
        case = f"{len(costs)} kills of scorers and a judge, {IN_FLIGHT} in flight"
        for name, cost in (("most", max(costs)), ("mean", sum(costs) / len(costs))):
            yield Figure(case=f"{case}: {name} paid twice", value=cost, unit="replies", high=IN_FLIGHT)
    for stop_signal, most in MAX_PAID_TWICE.items():
        for in_flight in options.in_flight:
            case = f"{stop_signal.name}, {options.count:,} judgments, {in_flight} in flight: paid twice"
            for _ in range(options.rounds):
                read, unread = paid_twice(options.count, in_flight, stop_signal)
                yield Figure(case=f"{case}, read", value=read, unit="replies", high=most)
                yield Figure(case=f"{case}, not read", value=unread, unit="replies")


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=6)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--in-flight", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.serve))
        return
    os.environ["OPENAI_API_KEY"] = "none"
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

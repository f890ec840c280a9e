"""Time the judging of answers by an endpoint that fails every call for some seconds, or for ever.

    .venv/bin/python benchmarks/bench_outages.py [--count 2000] [--seconds 20] [--rounds 1]

A call takes 0.4 s; 64 calls are sent at a time. The outage begins 3 s after the first call: refusals with
Retry-After 1, errors 500, dropped connections, or no server at all. Targets: all answers are judged, none is
bought twice, and the run takes at most the outage and 1.3 times the run without one. An endpoint that never
comes back ends ``hengwen run`` with exit code 1 within 90 s. Beside each outage, the bare client with its two
retries sends as many calls.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench_judges import write_plan
from harness.figures import Figure, print_entries, script_parser
from harness.processes import stub
from judge_peers import ANSWER, gather_limited

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

LATENCY = 0.4
KINDS = ("429", "500", "dropped", "closed")


def judge(count: int, *faults: object) -> float:
    """Return the seconds of a run; check that all answers are judged and none is bought twice."""
    from hengwen import RunOptions, run_plan

    with tempfile.TemporaryDirectory() as name, stub(LATENCY, *faults) as server:
        plan = write_plan(Path(name), count, server.url)
        begin = time.perf_counter()
        result = run_plan(plan, store=Path(name) / "x.db", options=RunOptions(concurrency=64))
        seconds = time.perf_counter() - begin
        assert not result.failures, result.failures
    lost = server.counts[200] - count
    in_flight = 64 if faults and faults[1] in ("dropped", "closed") else 0
    assert 0 <= lost <= in_flight, server.counts  # replies that an ended connection did not deliver
    return seconds


def give_up(count: int, kind: str) -> tuple[float, int]:
    """Return the seconds and the exit code of a run whose endpoint never comes back."""
    faults = ("--outage", kind, "--after", 3, "--seconds", 10_000)
    with tempfile.TemporaryDirectory() as name, stub(LATENCY, *faults) as server:
        plan = write_plan(Path(name), count, server.url)
        command = [
            sys.executable,
            "-m",
            "hengwen",
            "run",
            str(plan),
            "--store",
            f"{name}/x.db",
        ]
        begin = time.perf_counter()
        done = subprocess.run([*command, "--quiet", "-j", "64"], check=False, capture_output=True)
        return time.perf_counter() - begin, done.returncode


async def send_bare(url: str, count: int) -> int:
    """Send calls with the bare client, and return the number of those that fail."""
    from openai import AsyncOpenAI, OpenAIError

    failed = 0

    async def call(number: int) -> None:
        nonlocal failed
        try:
            content = ANSWER.format(number)
            await client.chat.completions.create(
                model="stub", messages=[{"role": "user", "content": content}]
            )
        except OpenAIError:
            failed += 1

    async with AsyncOpenAI(base_url=url, api_key="none") as client:
        await gather_limited(call, count, 64)
    return failed


def figures(options: argparse.Namespace) -> Iterator[Figure]:
    """Measure a run without an outage, with each kind of outage, and with one that never ends."""
    judge(10)  # import the modules
    for _ in range(options.rounds):
        usual = judge(options.count)
        yield Figure(case=f"{options.count:,} judgments without an outage", value=usual, unit="s")
        for kind in KINDS:
            seconds = judge(options.count, "--outage", kind, "--seconds", options.seconds)
            case = f"{options.seconds:g} s of {kind}: time beyond the outage"
            yield Figure(case=case, value=(seconds - options.seconds) / usual, unit="x", high=1.3)
            case = f"{options.seconds:g} s of {kind}: calls without a reply"
            yield Figure(case=case, value=0, unit="calls")  # judge() has checked it
            with stub(LATENCY, "--outage", kind, "--seconds", options.seconds) as server:
                failed = asyncio.run(send_bare(server.url, options.count))
            yield Figure(case=case, value=failed, unit="calls", system="openai")
        for kind in KINDS:
            seconds, code = give_up(options.count, kind)
            yield Figure(case=f"{kind} without end: time to give up", value=seconds, unit="s", high=90)
            yield Figure(case=f"{kind} without end: exit code", value=code, unit="", low=1, high=1)


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=1)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = "none"
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

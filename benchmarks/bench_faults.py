"""Time the judging of answers by an endpoint that refuses or fails some calls, or limits the calls a second.

    .venv/bin/python benchmarks/bench_faults.py [--count 1000] [--limited 600] [--rounds 3]

A call takes 50 ms; 64 calls are sent at a time. A refusal is immediate and asks to retry after 1 s. Targets:
1,000 judgments take at most 6 s if 5 % of the calls are refused and 5 % fail. If only 20 calls a second are
allowed, at most 5 % of the calls are refused, and at least 90 % of the allowed rate is reached.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench_judges import write_plan
from harness.figures import Figure, print_entries, script_parser
from harness.processes import stub

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

RATE = 20.0
RANDOM_FAULTS = ("--refuse", 0.05, "--fail", 0.05)
TARGET_COUNT = 1000
"""Number of judgments for which the time has a target."""


def judge(count: int, *faults: object) -> tuple[float, dict[int, int]]:
    """Return the seconds of a run, and the number of the endpoint's replies by HTTP status."""
    from hengwen import RunOptions, run_plan

    with tempfile.TemporaryDirectory() as name, stub(0.05, *faults) as server:
        plan = write_plan(Path(name), count, server.url)
        begin = time.perf_counter()
        result = run_plan(plan, store=Path(name) / "x.db", options=RunOptions(concurrency=64))
        seconds = time.perf_counter() - begin
        assert not result.failures, result.failures
    assert server.counts[200] == count, server.counts
    return seconds, server.counts


def figures(options: argparse.Namespace) -> Iterator[Figure]:
    """Measure an endpoint with random faults, then an endpoint that limits the calls a second."""
    judge(10)  # import the modules
    for _ in range(options.rounds):
        seconds, counts = judge(options.count, *RANDOM_FAULTS)
        case = f"5 % refused, 5 % failed, {options.count:,} judgments"
        yield Figure(case=case, value=seconds, unit="s", high=6 if options.count == TARGET_COUNT else None)
        for status, name in ((429, "refused"), (500, "failed")):
            yield Figure(case=f"{case}: {name}", value=counts.get(status, 0), unit="calls")
    for _ in range(options.rounds):
        seconds, counts = judge(options.limited, "--rate", RATE)
        allowed = RATE + RATE * seconds  # RATE calls at once, then RATE a second
        case = f"{RATE:g} calls a second, {options.limited:,} judgments"
        yield Figure(case=f"{case}: of the rate", value=100 * options.limited / allowed, unit="%", low=90)
        refused = 100 * counts.get(429, 0) / sum(counts.values())
        yield Figure(case=f"{case}: refused", value=refused, unit="% of calls", high=5)


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=3)
    parser.add_argument("--count", type=int, default=TARGET_COUNT)
    parser.add_argument("--limited", type=int, default=600)
    options = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = "none"
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

"""Measure the memory of a run over many samples, which must not grow with the number of samples.

    .venv/bin/python benchmarks/bench_stream.py [--counts 50000 200000] [--rounds 1]

Samples and stored answers have some hundred characters; the plan has one cheap scorer, and the store is a
SQLite file. Each number of samples runs in its own process, and then once more with the finished store.
Target: without the memory of the imports, the run with the most samples takes at most 1.25 times the memory
of the run with the fewest samples.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from harness.figures import Figure, print_entries, script_parser

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_GROWTH = 1.25
"""Maximum memory of the run with the most samples, as a multiple of that of the run with the fewest."""


def write_plan(folder: Path, count: int) -> Path:
    """Write samples, answers and a plan; return the path of the plan."""
    with (
        (folder / "s.jsonl").open("w", encoding="utf-8") as samples,
        (folder / "a.jsonl").open("w") as answers,
    ):
        for number in range(count):
            text = f"第{number}个问题：" + "今晚的风几点停？" * 20
            samples.write(json.dumps({"id": f"q{number}", "input": text}, ensure_ascii=False) + "\n")
            answers.write(json.dumps({"id": f"q{number}", "output": text[::-1]}) + "\n")
    plan = {
        "name": "stream",
        "tasks": [{"name": "t", "samples": "s.jsonl", "scorers": ["length"]}],
        "checkpoints": [{"name": "a", "responses": "a.jsonl"}],
    }
    (folder / "plan.yaml").write_text(json.dumps(plan))
    return folder / "plan.yaml"


def leg(plan: Path) -> None:
    """Run a plan; print its seconds, and its megabytes without those of the imports."""
    from hengwen import run_plan

    with tempfile.TemporaryDirectory() as name:
        run_plan(write_plan(Path(name), 1), store=Path(name) / "warm.db")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    result = run_plan(plan, store=plan.with_name("x.db"))
    assert not result.failures
    above = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(json.dumps([time.perf_counter() - begin, above]))


def figures(options: argparse.Namespace) -> Iterator[Figure]:
    """Measure a run over each number of samples, a second run on its store, and how their memory grows."""
    first, last = min(options.counts), max(options.counts)
    for _ in range(options.rounds):
        megabytes: dict[tuple[str, int], float] = {}
        for count in options.counts:
            with tempfile.TemporaryDirectory() as name:
                plan = write_plan(Path(name), count)
                for kind in ("samples", "samples, all completed"):
                    case = f"{count:,} {kind}"
                    command = [sys.executable, __file__, "--leg", str(plan)]
                    process = subprocess.run(command, capture_output=True, text=True, check=True)
                    seconds, above = json.loads(process.stdout)
                    megabytes[kind, count] = above
                    yield Figure(case=f"{case}: above the imports", value=above, unit="MB")
                    yield Figure(case=case, value=seconds, unit="s")
        for kind in ("samples", "samples, all completed"):
            case = f"memory of {last:,} / {first:,} {kind}"
            ratio = megabytes[kind, last] / max(1, megabytes[kind, first])
            yield Figure(case=case, value=ratio, unit="x", high=MAX_GROWTH)


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=1)
    parser.add_argument("--counts", type=int, nargs="+", default=[50_000, 200_000])
    parser.add_argument("--leg", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.leg:
        leg(options.leg)
        return
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

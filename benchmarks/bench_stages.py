"""Measure whether a plan that generates and judges answers takes only as long as its slower stage.

    .venv/bin/python benchmarks/bench_stages.py [--count 2000] [--concurrency 64] [--rounds 3]

Two local servers answer after 50 ms and 200 ms; one is the model under test, and the other is the judge. The
plan is run as a user runs it, and before that with a single sample, which measures the time of the start.
Target: wall time without the start at most 1.1 times the time of the slower stage, which is
count x latency / concurrency.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from harness.figures import Figure, Problem, print_entries, script_parser
from harness.processes import run_process, stub

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from harness.figures import Entry

MIN_RATIO = 0.95
"""Minimum plausible ratio: below it, the time of the start was measured badly, as no ratio is below 1."""


def write_plan(folder: Path, count: int, subject: str, judge: str) -> Path:
    """Write a plan whose answers and judgments come from two servers; return its path."""
    samples = [{"id": f"q{i}", "input": f"第{i}位船友问：今晚的风几点停？"} for i in range(count)]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in samples)
    (folder / "prompts.jsonl").write_text(text, "utf-8")
    plan = {
        "name": "stages",
        "tasks": [
            {
                "name": "t",
                "samples": "prompts.jsonl",
                "scorers": ["length"],
                "judges": [{"rubric": "persona_generic", "backend": "judge"}],
            }
        ],
        "checkpoints": [{"name": "a", "backend": "subject"}],
        "backends": {
            "subject": {"provider": "openai", "model": "stub", "base_url": subject},
            "judge": {"provider": "openai", "model": "stub", "base_url": judge},
        },
    }
    (folder / "plan.yaml").write_text(json.dumps(plan), "utf-8")
    return folder / "plan.yaml"


def seconds(plan: Path, store: Path, concurrency: int) -> float:
    """Return the wall time of a run."""
    command = [sys.executable, "-m", "hengwen", "run", str(plan), "--quiet", "--strict"]
    command += ["--store", str(store), "-j", str(concurrency)]
    return run_process(command, OPENAI_API_KEY="none").wall


def ratio(subject: float, judge: float, count: int, concurrency: int) -> float:
    """Return the wall time without the start, divided by the time of the slower stage."""
    with stub(subject) as model, stub(judge) as judge_server, tempfile.TemporaryDirectory() as name:
        folder, urls = Path(name), (model.url, judge_server.url)
        start = seconds(write_plan(folder, 1, *urls), folder / "1.db", concurrency) - subject - judge
        wall = seconds(write_plan(folder, count, *urls), folder / "2.db", concurrency) - start
    return wall / (count * max(subject, judge) / concurrency)


def figures(options: argparse.Namespace) -> Iterator[Entry]:
    """Measure with the slower server as the judge, and as the model under test."""
    for _ in range(options.rounds):
        for subject, judge in ((0.05, 0.2), (0.2, 0.05)):
            case = f"model {1000 * subject:.0f} ms, judge {1000 * judge:.0f} ms: wall / slower stage"
            value = ratio(subject, judge, options.count, options.concurrency)
            if value < MIN_RATIO:
                yield Problem(case=case, message=f"the start took longer than in the run: {value:.2f} x")
            else:
                yield Figure(case=case, value=value, unit="x", high=1.1)


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=3)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=64)
    options = parser.parse_args()
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

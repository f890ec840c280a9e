"""Compare the cost of a judgment (render, call, parse, store) with the same judgment by peers.

    .venv-bench/bin/python benchmarks/bench_judges.py [--count 2000] [--peer-count 500] [--rounds 3]

Hengwen and each peer run in a process of their own, against a local server in a third process. The peer
``openai`` is the bare client, which only sends the prompts of Hengwen's judge. Figures: efficiency (the ideal
time, count x latency / concurrency, divided by the actual time), CPU time per judgment without the start, and
memory without that of the imports. Targets: an efficiency of 85 % at 50 ms x 64 calls and of 80 % at 200 ms x
256 calls, 0.8 ms of CPU a judgment, 0.55 times the CPU of the bare client, 60 MB, and 1.5 s for a program
that judges one answer.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from harness.environment import error_line
from harness.figures import HENGWEN, Figure, Problem, print_entries, script_parser
from harness.processes import process_usage, run_process, stub
from judge_peers import PEERS, REPLIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.figures import Entry

SETTINGS = {
    # latency, concurrency: efficiency in %, systems
    (0.05, 64): (85, (HENGWEN, *PEERS)),
    (0.2, 256): (80, (HENGWEN, "openai")),
}
SLOW_PEERS = ("inspect-ai", "deepeval")
"""Peers that judge only ``--peer-count`` answers, because they are slow."""
RATIO = 0.55
"""Target: Hengwen's CPU time is at most this multiple of the bare client's CPU time."""


def write_plan(folder: Path, count: int, url: str) -> Path:
    """Write a plan of one task with stored answers and one judge; return its path."""
    samples = [{"id": f"q{i}", "input": f"第{i}位船友问：今晚的风几点停？"} for i in range(count)]
    answers = [{"id": f"q{i}", "output": f"船友，第{i}封信我记一笔，风三点前会停。"} for i in range(count)]
    for name, rows in (("prompts", samples), ("a", answers)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
    plan = {
        "name": "bench",
        "tasks": [
            {
                "name": "t",
                "samples": "prompts.jsonl",
                "judges": [{"rubric": "persona_generic", "backend": "j"}],
            }
        ],
        "checkpoints": [{"name": "a", "responses": "a.jsonl"}],
        "backends": {"j": {"provider": "openai", "model": "stub", "base_url": url}},
    }
    (folder / "plan.yaml").write_text(json.dumps(plan), "utf-8")
    return folder / "plan.yaml"


def judge_with_hengwen(url: str, count: int, concurrency: int) -> dict[str, float]:
    """Judge answers by a run of a plan with a store."""
    from hengwen import RunOptions, run_plan

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_plan(
            write_plan(folder, 1, url), store=folder / "warm.db", options=RunOptions(concurrency=concurrency)
        )  # warm up
        plan = write_plan(folder, count, url)
        cpu, memory = process_usage()
        begin = time.perf_counter()
        result = run_plan(plan, store=folder / "x.db", options=RunOptions(concurrency=concurrency))
        wall = time.perf_counter() - begin
        assert not result.failures
        assert not result.unscored
    after, peak = process_usage()
    return {"wall": wall, "cpu": after - cpu, "memory": peak - memory}


SYSTEMS = {HENGWEN: judge_with_hengwen, **PEERS}


def figures_of(system: str, latency: float, concurrency: int, count: int) -> Iterator[Entry]:
    """Judge answers with a system in a process of its own."""
    case = f"{latency * 1000:.0f} ms x {concurrency}"
    command = [sys.executable, __file__, "--system", system, "--count", str(count)]
    with stub(latency, *REPLIES.get(system, ())) as server:
        command += ["--url", server.url, "--concurrency", str(concurrency)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        yield Problem(case=case, system=system, message=error_line(process.stderr))
        return
    cost = json.loads(process.stdout.splitlines()[-1])
    is_hengwen = system == HENGWEN
    efficiency = 100 * count * latency / concurrency / cost["wall"]
    least = SETTINGS[latency, concurrency][0] if is_hengwen else None
    yield Figure(case=f"{case}: efficiency", system=system, value=efficiency, unit="%", low=least)
    yield Figure(
        case=f"{case}: a judgment",
        system=system,
        value=1000 * cost["cpu"] / count,
        unit="ms of CPU",
        high=0.8 if is_hengwen else None,
        ratio_high=RATIO if system == "openai" else None,
    )
    most = 60.0 if is_hengwen else None
    yield Figure(case=f"{case}: above the imports", system=system, value=cost["memory"], unit="MB", high=most)


def start_figures(rounds: int) -> Iterator[Figure]:
    """Measure the program ``hengwen run`` for one judgment."""
    with stub(0.05) as server, tempfile.TemporaryDirectory() as name:
        plan = write_plan(Path(name), 1, server.url)
        for turn in range(rounds):
            command = [sys.executable, "-m", "hengwen", "run", str(plan), "--quiet", "--strict"]
            usage = run_process([*command, "--store", f"{name}/{turn}.db"], OPENAI_API_KEY="none")
            case = "program that judges one answer"
            yield Figure(case=case, value=usage.wall, unit="s", high=1.5)
            yield Figure(case=case, value=usage.cpu, unit="s of CPU")


def figures(options: argparse.Namespace) -> Iterator[Entry]:
    """Measure all systems in turn, so that other load of the machine affects all."""
    for (latency, concurrency), (_, systems) in SETTINGS.items():
        for _ in range(options.rounds):
            for system in systems:
                count = options.peer_count if system in SLOW_PEERS else options.count
                yield from figures_of(system, latency, concurrency, count)
    yield from start_figures(options.rounds)


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=3)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--peer-count", type=int, default=500, help="answers that slow peers judge")
    parser.add_argument("--system", choices=SYSTEMS, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--concurrency", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.system:
        print(json.dumps(SYSTEMS[options.system](options.url, options.count, options.concurrency)))
        return
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

"""Time and memory of peer reviews of 50 models, 5,000 questions and 1,000,000 battles, beside evalica.

    python benchmarks/bench_peer_review.py [--judges 10] [--lengths] [--rounds 3]

Each round runs in a process of its own. evalica fits one Bradley-Terry model of the same battles, and one of
a resample of questions; Hengwen fits 200 resamples. Targets for Hengwen: 3 s and 500 MB from arrays,
15 s from a JSONL file.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness.environment import error_line
from harness.figures import HENGWEN, Figure, Problem, print_entries, script_parser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.figures import Entry

MODELS, QUESTIONS, BATTLES, RESAMPLES = 50, 5000, 1_000_000, 200
ONE_THREAD = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
"""Environment of the measured processes: one CPU each, as several BLAS threads would wait for busy cores."""
TASKS: dict[str, tuple[str, str, float | None]] = {
    # case, system, target in seconds
    "default": (f"default method, {RESAMPLES} resamples", HENGWEN, 3),
    "bradley-terry": (f"Bradley-Terry, {RESAMPLES} resamples", HENGWEN, None),
    "file": (f"default method, {RESAMPLES} resamples, from a JSONL file", HENGWEN, 15),
    "evalica": ("Bradley-Terry, one fit", "evalica", None),
    "evalica resample": ("Bradley-Terry, one fit of a resample", "evalica", None),
}
MAX_MEGABYTES = 500


def columns(judges: int, *, lengths: bool) -> dict[str, np.ndarray]:
    """Return simulated battles in both orders, as columns of numbers."""
    rng = np.random.default_rng(0)
    half = BATTLES // 2
    strengths = np.sort(rng.normal(size=MODELS))[::-1]
    discriminations, positions = rng.uniform(0.3, 1.7, judges), rng.normal(0, 0.3, judges)
    question = np.tile(rng.integers(0, QUESTIONS, half), 2)
    a = rng.integers(0, MODELS, half)
    b = np.tile((a + rng.integers(1, MODELS, half)) % MODELS, 2)
    a, judge = np.tile(a, 2), np.tile(rng.integers(0, judges, half), 2)
    first = np.repeat([1, -1], half)
    logit = discriminations[judge] * (strengths[a] - strengths[b]) + positions[judge] * first
    outcome = (rng.random(BATTLES) < 1 / (1 + np.exp(-logit))).astype(float)
    outcome[rng.random(BATTLES) < 0.1] = 0.5
    table = {
        "model_a": a,
        "model_b": b,
        "judge": judge,
        "question": question,
        "winner": outcome,
        "first": first,
    }
    if lengths:
        table["length_a"], table["length_b"] = rng.lognormal(5, 0.5, (2, BATTLES))
    return table


def review(table: dict[str, np.ndarray], method: str | None) -> None:
    from hengwen.peer_review import Battles, peer_review

    peer_review(Battles.from_columns(**table), method=method, n_boot=RESAMPLES)


def review_file(table: dict[str, np.ndarray], folder: Path) -> tuple[float, float]:
    """Write the battles to a JSONL file, and return the seconds and CPU seconds to read and review them."""
    from hengwen.peer_review import peer_review, read_battles

    path = folder / "battles.jsonl"
    winners, firsts = {1.0: "a", 0.0: "b", 0.5: "tie"}, {1: "a", -1: "b"}
    with path.open("w") as file:
        for values in zip(*(column.tolist() for column in table.values()), strict=True):
            row = dict(zip(table, values, strict=True))
            row |= {"model_a": f"model {row['model_a']}", "model_b": f"model {row['model_b']}"}
            row |= {"winner": winners[row["winner"]], "first": firsts[row["first"]]}
            file.write(json.dumps(row) + "\n")
    start, start_cpu = time.perf_counter(), time.process_time()
    peer_review(read_battles([path]).battles, n_boot=RESAMPLES)
    return time.perf_counter() - start, time.process_time() - start_cpu


def evalica_fit(table: dict[str, np.ndarray], *, resampled: bool) -> tuple[float, float]:
    import evalica

    names = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    a, b = table["model_a"].tolist(), table["model_b"].tolist()
    winners = [names[value] for value in table["winner"].tolist()]
    start, start_cpu = time.perf_counter(), time.process_time()
    weights = None
    if resampled:
        draws = np.random.default_rng(0).multinomial(QUESTIONS, np.full(QUESTIONS, 1 / QUESTIONS))
        weights = draws[table["question"]].astype(float).tolist()
    evalica.bradley_terry(a, b, winners, weights=weights)
    return time.perf_counter() - start, time.process_time() - start_cpu


def measure(task: str, judges: int, *, lengths: bool) -> None:
    """Print seconds, seconds of CPU and megabytes of one task; memory includes Python and the columns."""
    table = columns(judges, lengths=lengths)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, start_cpu = time.perf_counter(), time.process_time()
    if task == "file":
        with tempfile.TemporaryDirectory() as folder:
            seconds, cpu = review_file(table, Path(folder))
    elif task.startswith("evalica"):
        seconds, cpu = evalica_fit(table, resampled="resample" in task)
    else:
        review(table, None if task == "default" else task)
        seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{seconds} {cpu} {before / 1024} {after / 1024}")


def figures(options: argparse.Namespace) -> Iterator[Entry]:
    """Measure each task in a process of its own."""
    command = [sys.executable, __file__, "--judges", str(options.judges)]
    command += ["--lengths"] if options.lengths else []
    for _ in range(options.rounds):
        for task, (case, system, high) in TASKS.items():
            arguments = [*command, "--task", task]
            done = subprocess.run(arguments, capture_output=True, text=True, check=False, env=ONE_THREAD)
            if done.returncode:
                yield Problem(case=case, system=system, message=error_line(done.stderr))
                continue
            seconds, cpu, before, after = (float(number) for number in done.stdout.split())
            yield Figure(case=case, system=system, value=seconds, unit="s", high=high)
            yield Figure(case=case, system=system, value=cpu, unit="s of CPU")
            most = MAX_MEGABYTES if task == "default" else None
            yield Figure(case=f"{case}: memory", system=system, value=after, unit="MB", high=most)
            yield Figure(case=f"{case}: memory before", system=system, value=before, unit="MB")


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=3)
    parser.add_argument("--judges", type=int, default=10)
    parser.add_argument("--lengths", action="store_true")
    parser.add_argument("--task", choices=TASKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        measure(options.task, options.judges, lengths=options.lengths)
        return
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

"""Measure the main job as a user runs it: ``hengwen run`` over the lyrics of six checkpoints.

    .venv/bin/python benchmarks/bench_main_job.py [--answers 36000] [--workers N] [--lyrics FILE] [--rounds 1]

The lyrics are copies of those in ``../shared/data/muchin-checkpoints.jsonl``; in each copy some characters
are replaced, so that no two texts are equal. The plan has the scorers ``lyric`` and ``distinct_n`` and the
rules judge with the rubric ``lyric_craft``. Output: CPU time of all processes compared with that of the bare
scorers and judge in one process, busy cores, memory of all processes together, size of the store, and the
time of a report. Targets for 36,000 lyrics on two cores: 2.5 times the bare CPU time, 80 % of both cores,
400 MB, 2.5 kB of store an answer, and 5 s for a report. For 360,000 lyrics, the targets for one answer and
for the memory are the same.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from harness.figures import Figure, print_entries, script_parser
from harness.machine import cores

if TYPE_CHECKING:
    from collections.abc import Iterator

LYRICS = Path(__file__).resolve().parents[2] / "shared" / "data" / "muchin-checkpoints.jsonl"
CHARACTERS = "山水风云花月星海春秋梦雨雪夜歌心路光影情"
REPLACED = 6
"""Number of characters that are replaced in each copy of a lyric."""
BARE_ANSWERS = 3600
"""Number of answers for which the bare CPU time is measured."""


def varied(text: str, chooser: random.Random) -> str:
    """Return a copy of a lyric in which some Chinese characters are replaced."""
    characters = list(text)
    for _ in range(REPLACED):
        position = chooser.randrange(len(characters))
        if "\u4e00" <= characters[position] <= "\u9fff":
            characters[position] = chooser.choice(CHARACTERS)
    return "".join(characters)


def varied_lyrics(source: Path, answers: int) -> Iterator[dict[str, str]]:
    """Yield the rows of all checkpoints; each lyric is repeated with other characters replaced."""
    by_checkpoint: dict[str, list[dict[str, str]]] = defaultdict(list)
    with source.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            by_checkpoint[row["checkpoint"]].append(row)
    chooser = random.Random(0)
    for rows in by_checkpoint.values():
        for number in range(answers // len(by_checkpoint)):
            row = rows[number % len(rows)]
            name = f"{row['id']}-{number // len(rows)}-{row['repeat']}"
            yield {**row, "id": name, "repeat": "1", "lyric": varied(row["lyric"], chooser)}


def write_plan(folder: Path, source: Path, answers: int) -> Path:
    """Write the plan of the main job as ``hengwen import muchin`` does; return its path."""
    lyrics = folder / f"lyrics{answers}.jsonl"
    with lyrics.open("w", encoding="utf-8") as file:
        for row in varied_lyrics(source, answers):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    target = folder / f"plan{answers}"
    command = [sys.executable, "-m", "hengwen", "import", "muchin", str(lyrics), "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True)
    lyrics.unlink()
    return target / "plan.yaml"


def bare_seconds(plan: Path) -> tuple[int, float]:
    """Return the number of answers, and the CPU seconds of the bare scorers and judges in this process."""
    from hengwen.plans.plan import load_plan
    from hengwen.plans.suite import load_suite

    suite = load_suite(load_plan(plan))
    (task,) = suite.tasks
    judges = [configured.build(task.persona, []) for configured in task.panel]
    pairs = [
        (sample, response)
        for checkpoint in suite.plan.checkpoints
        for sample in task.samples.samples.values()
        for response in suite.responses[checkpoint.name].for_sample(task.spec.name, sample.id)
    ]

    async def judge() -> None:
        for pair in pairs:
            for member in judges:
                await member.judge(*pair)

    begin = time.process_time()
    for pair in pairs:
        for scorer in task.scorers:
            scorer.score(*pair)
    size = len(pairs) // len(suite.plan.checkpoints)
    for start in range(0, len(pairs), size):
        for group in task.set_scorers:
            group.score_set(pairs[start : start + size])
    asyncio.run(judge())
    return len(pairs), time.process_time() - begin


class ProcessTree(threading.Thread):
    """Samples the memory (resident set size) of a process and all its descendants.

    It also samples how long each descendant ran or waited for a core; other programs do not change this time.
    """

    def __init__(self, pid: int, interval: float = 0.2) -> None:
        super().__init__(daemon=True)
        self.samples: list[tuple[float, float, float]] = []
        """(seconds since the start, MB of the process, MB of all its descendants)"""
        self.largest_child = 0.0
        """Largest memory of one descendant in MB."""
        self.busy: dict[int, tuple[float, float]] = {}
        """For each descendant: seconds in which it ran or waited for a core, and seconds since its start."""
        self._first_seen: dict[int, float] = {}
        self._pid = pid
        self._interval = interval

    def run(self) -> None:
        """Sample until the process has ended."""
        begin = time.monotonic()
        while own := _megabytes(self._pid):
            descendants = _descendants(self._pid)
            children = [_megabytes(child) for child in descendants]
            self.largest_child = max([self.largest_child, *children])
            now = time.monotonic()
            self.samples.append((now - begin, own, sum(children)))
            for child in descendants:
                seconds = _runnable_seconds(child)
                if seconds:
                    self.busy[child] = seconds, now - self._first_seen.setdefault(child, now - self._interval)
            time.sleep(self._interval)

    @property
    def peak(self) -> float:
        """Largest memory of all processes together in MB."""
        return max(own + children for _, own, children in self.samples)

    def at(self, share: float) -> float:
        """Return the largest memory in MB near a share of the run time (up to a tenth before or after it)."""
        end = self.samples[-1][0]
        return max(
            own + children
            for seconds, own, children in self.samples
            if (share - 0.1) * end <= seconds <= (share + 0.1) * end
        )


def _megabytes(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _runnable_seconds(pid: int) -> float:
    """Return for how long the main thread of a process ran or waited for a core."""
    try:
        running, waiting, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
    except (OSError, ValueError):
        return 0.0
    return (int(running) + int(waiting)) / 1e9


def _descendants(pid: int) -> list[int]:
    try:
        children = [
            int(child)
            for thread in Path(f"/proc/{pid}/task").iterdir()
            for child in (thread / "children").read_text().split()
        ]
    except OSError:
        return []
    return children + [descendant for child in children for descendant in _descendants(child)]


def measured(command: list[str]) -> tuple[float, float, ProcessTree]:
    """Run ``hengwen``; return wall seconds, CPU seconds of all processes, and the samples of their memory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    with subprocess.Popen([sys.executable, "-m", "hengwen", *command], stderr=subprocess.PIPE) as process:
        memory = ProcessTree(process.pid)
        memory.start()
        _, errors = process.communicate()
    wall = time.perf_counter() - begin
    memory.join()
    if process.returncode:
        raise SystemExit(errors.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, memory


def figures(options: argparse.Namespace) -> Iterator[Figure]:
    """Measure the bare scorers and judges, the run and its report."""
    answers = options.answers
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = write_plan(folder, options.lyrics, answers)
        small = plan if answers <= BARE_ANSWERS else write_plan(folder, options.lyrics, BARE_ANSWERS)
        for turn in range(options.rounds):
            output = subprocess.run(
                [sys.executable, __file__, "--bare", str(small)], check=True, capture_output=True, text=True
            )
            count, seconds = json.loads(output.stdout)
            yield Figure(
                case="bare scorers and rules: an answer", value=1000 * seconds / count, unit="ms of CPU"
            )
            store = folder / f"store{turn}.db"
            command = ["run", str(plan), "--store", str(store), "--quiet", "--strict"]
            if options.workers is not None:
                command += ["--workers", str(options.workers)]
            yield from run_figures(command, answers, seconds / count)
            size = sum(file.stat().st_size for file in folder.glob(f"{store.name}*"))
            yield Figure(case="store: an answer", value=size / answers / 1000, unit="kB", high=2.5)
            command = ["report", "--store", str(store), "-o", str(folder / "report.html"), "--quiet"]
            wall, cpu, memory = measured(command)
            yield Figure(case="report", value=wall, unit="s", high=5 * max(1, answers / 36_000))
            yield Figure(case="report", value=cpu, unit="s of CPU")
            yield Figure(case="report: an answer", value=1000 * cpu / answers, unit="ms of CPU")
            yield Figure(case="report: memory", value=memory.peak, unit="MB")


def run_figures(command: list[str], answers: int, bare: float) -> Iterator[Figure]:
    """Measure ``hengwen run``.

    Args:
        command: Arguments of ``hengwen``.
        answers: Number of answers.
        bare: CPU seconds of the bare scorers and judges for one answer.
    """
    wall, cpu, tree = measured(command)
    case = f"run of {answers:,} answers"
    yield Figure(case=case, value=wall, unit="s")
    yield Figure(case=f"{case}: an answer", value=1000 * cpu / answers, unit="ms of CPU")
    yield Figure(case=f"{case}: CPU / bare", value=cpu / (bare * answers), unit="x", high=2.5)
    yield Figure(case=f"{case}: busy cores", value=100 * cpu / wall / cores(), unit="%", low=80)
    if tree.busy:
        share = statistics.mean(seconds / total for seconds, total in tree.busy.values())
        yield Figure(case=f"{case}: workers had work", value=100 * share, unit="% of the time")
    yield Figure(case=f"{case}: memory of all processes", value=tree.peak, unit="MB", high=400)
    main_process = max(megabytes for _, megabytes, _ in tree.samples)
    yield Figure(case=f"{case}: memory of the main process", value=main_process, unit="MB")
    if tree.busy:
        yield Figure(case=f"{case}: memory of one worker", value=tree.largest_child, unit="MB")
    for share in (0.3, 0.9):
        yield Figure(case=f"{case}: memory at {share:.0%}", value=tree.at(share), unit="MB")


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=1)
    parser.add_argument("--answers", type=int, default=36_000)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--lyrics", type=Path, default=LYRICS)
    parser.add_argument("--bare", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        print(json.dumps(bare_seconds(options.bare)))
        return
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

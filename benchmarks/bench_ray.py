"""Score 36,000 lyrics into a folder: processes of this machine, against tasks of a Ray on this machine.

    .venv/bin/python -m pytest benchmarks/bench_ray.py -o python_files='bench_*.py' --benchmark-only

The extra information contains the lyrics per second of both, ``ratio``, the median time of Ray divided by
that of the processes, ``cpu_ratio``, the same of the CPU time of all processes, and ``start_seconds``, the
time that Ray takes to start, which is part of no ratio. Requires ``../shared/data/muchin-checkpoints.jsonl``.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest

from hengwen.runs.cluster.shard_pool import ray_pool
from hengwen.runs.shards.local_pool import local_pool
from hengwen.runs.shards.score_folder import score_folder

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pytest_benchmark.fixture import BenchmarkFixture

    from hengwen.runs.shards.schedule import ShardPool

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "muchin-checkpoints.jsonl"
ROWS, COPIES = 360, 100
ROUNDS = 3


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not DATA.exists():
        pytest.skip("../shared/data/muchin-checkpoints.jsonl is not beside this checkout")
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").rstrip("\n").split("\n")]
    path = tmp_path_factory.mktemp("lyrics") / "lyrics.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for copy in range(COPIES):
            for row in rows:
                text = f"{row['lyric']}{'啊' * (copy % 7)}"
                values = {"id": f"{copy}-{row['id']}", "template": row["template"], "output": text}
                file.write(json.dumps(values, ensure_ascii=False) + "\n")
    return path


def cpu_seconds(mark: str) -> float:
    """Return the CPU time of this process and of all processes with the mark in their environment."""
    ticks = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if mark.encode() in (folder / "environ").read_bytes():
                    ticks += sum(map(int, (folder / "stat").read_text().rpartition(")")[2].split()[11:15]))
            except OSError:  # the process has ended, or belongs to another user
                continue
    return sum(os.times()[:4]) + ticks / os.sysconf("SC_CLK_TCK")


def test_processes_and_ray(
    benchmark: BenchmarkFixture, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    mark = f"HENGWEN_BENCH={tmp_path}"
    monkeypatch.setenv(*mark.split("=", 1))
    walls: dict[str, list[float]] = {"local": [], "ray": []}
    cpus: dict[str, list[float]] = {"local": [], "ray": []}
    workers = len(os.sched_getaffinity(0))

    def score(engine: str, pool: AbstractContextManager[ShardPool]) -> None:
        start, cpu = time.perf_counter(), cpu_seconds(mark)
        folder = tmp_path / f"{engine}{len(walls[engine])}"
        assert score_folder([source], folder, pool).failed == 0
        walls[engine].append(time.perf_counter() - start)
        cpus[engine].append(cpu_seconds(mark) - cpu)

    start = time.perf_counter()
    with ray_pool() as pool:
        benchmark.extra_info["start_seconds"] = round(time.perf_counter() - start, 1)

        def work() -> None:
            for _ in range(ROUNDS):  # in turn, so that other load of the machine affects both
                score("local", local_pool(workers))
                score("ray", nullcontext(pool))

        benchmark.pedantic(work, rounds=1)
    for name, seconds in (("seconds", walls), ("cpu_seconds", cpus)):
        benchmark.extra_info[name] = {engine: [round(s, 1) for s in seconds[engine]] for engine in seconds}
    benchmark.extra_info["ratio"] = round(median(walls["ray"]) / median(walls["local"]), 3)
    benchmark.extra_info["cpu_ratio"] = round(median(cpus["ray"]) / median(cpus["local"]), 3)
    for engine, seconds in walls.items():
        benchmark.extra_info[f"{engine}_lyrics_per_second"] = round(ROWS * COPIES / median(seconds))

"""Score 36,000 lyrics into a folder: processes of this machine, against tasks of a Ray on this machine.

    .venv/bin/python -m pytest benchmarks/bench_ray.py -o python_files='bench_*.py' --benchmark-only

The extra information of each result contains ``lyrics_per_second``. For Ray it also contains ``ratio``, the
time divided by that of the processes, and ``start_seconds``, the time that Ray takes to start, which is not
part of the ratio. Requires ``../shared/data/muchin-checkpoints.jsonl``.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import nullcontext
from pathlib import Path
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
COPIES = 100
SECONDS: dict[str, float] = {}


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


def measure(
    benchmark: BenchmarkFixture, source: Path, folder: Path, pool: AbstractContextManager[ShardPool]
) -> float:
    counts: list[int] = []

    def work() -> None:
        counts.append(score_folder([source], folder, pool).rows)

    benchmark.pedantic(work, rounds=1)
    seconds = float(benchmark.stats.stats.median)
    benchmark.extra_info["lyrics_per_second"] = round(counts[0] / seconds)
    return seconds


def test_processes(benchmark: BenchmarkFixture, source: Path, tmp_path: Path) -> None:
    workers = len(os.sched_getaffinity(0))
    SECONDS["local"] = measure(benchmark, source, tmp_path / "out", local_pool(workers))


def test_ray(benchmark: BenchmarkFixture, source: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    start = time.perf_counter()
    with ray_pool() as pool:
        benchmark.extra_info["start_seconds"] = round(time.perf_counter() - start, 1)
        seconds = measure(benchmark, source, tmp_path / "out", nullcontext(pool))
    if "local" in SECONDS:
        benchmark.extra_info["ratio"] = round(seconds / SECONDS["local"], 3)

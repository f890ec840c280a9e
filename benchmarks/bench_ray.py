"""Score 36,000 lyrics into a folder: processes of this machine, against tasks of a Ray on this machine.

    .venv/bin/python -m pytest benchmarks/bench_ray.py -o python_files='bench_*.py' --benchmark-only

The extra information contains the lyrics per second of both, ``ratio``, the median time of Ray divided by
that of the processes, and ``start_seconds``, the time that Ray takes to start, which is not part of the
ratio. Requires ``../shared/data/muchin-checkpoints.jsonl``.
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


def test_processes_and_ray(benchmark: BenchmarkFixture, source: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    seconds: dict[str, list[float]] = {"local": [], "ray": []}
    workers = len(os.sched_getaffinity(0))

    def score(engine: str, pool: AbstractContextManager[ShardPool]) -> None:
        start = time.perf_counter()
        folder = tmp_path / f"{engine}{len(seconds[engine])}"
        assert score_folder([source], folder, pool).failed == 0
        seconds[engine].append(time.perf_counter() - start)

    start = time.perf_counter()
    with ray_pool() as pool:
        benchmark.extra_info["start_seconds"] = round(time.perf_counter() - start, 1)

        def work() -> None:
            for _ in range(ROUNDS):  # in turn, so that other load of the machine affects both
                score("local", local_pool(workers))
                score("ray", nullcontext(pool))

        benchmark.pedantic(work, rounds=1)
    medians = {engine: median(values) for engine, values in seconds.items()}
    for engine, value in medians.items():
        benchmark.extra_info[f"{engine}_lyrics_per_second"] = round(ROWS * COPIES / value)
    benchmark.extra_info["ratio"] = round(medians["ray"] / medians["local"], 3)
    benchmark.extra_info["seconds"] = {
        engine: [round(value, 1) for value in values] for engine, values in seconds.items()
    }

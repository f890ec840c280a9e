"""Score 36,000 lyrics into a folder: processes of this machine, against tasks of a Ray on this machine.

    .venv/bin/python benchmarks/bench_ray.py [--copies 100] [--rounds 3]

The time that Ray takes to start is measured separately. ``hengwen score`` writes the same rows to one file in
a process of its own, of which CPU time and memory are measured. Requires
``../shared/data/muchin-checkpoints.jsonl``.
"""

from __future__ import annotations

import json
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from hengwen.runs.shards.ray_pool import ray_pool
from hengwen.runs.shards.schedule import local_pool
from hengwen.runs.shards.score_folder import score_folder

from bench_main_job import measured
from harness.figures import Figure, print_entries, script_parser
from harness.machine import cores

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from hengwen.runs.shards.schedule import ShardPool

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "muchin-checkpoints.jsonl"


def write_lyrics(path: Path, copies: int) -> int:
    """Write copies of the lyrics, some with more characters; return their number."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").rstrip("\n").split("\n")]
    with path.open("w", encoding="utf-8") as file:
        for copy in range(copies):
            for row in rows:
                text = f"{row['lyric']}{'啊' * (copy % 7)}"
                values = {"id": f"{copy}-{row['id']}", "template": row["template"], "output": text}
                file.write(json.dumps(values, ensure_ascii=False) + "\n")
    return copies * len(rows)


def program_figures(source: Path, target: Path, count: int) -> Iterator[Figure]:
    """Measure ``hengwen score`` with one output file."""
    command = ["score", str(source), "-o", str(target), "--workers", str(cores()), "--quiet", "--strict"]
    _, cpu, tree = measured(command)
    case = f"hengwen score of {count:,} lyrics"
    yield Figure(case=f"{case}: a lyric", value=1000 * cpu / count, unit="ms of CPU")
    yield Figure(case=f"{case}: input, a row", value=source.stat().st_size / count, unit="bytes")
    yield Figure(case=f"{case}: output, a row", value=target.stat().st_size / count, unit="bytes")
    for name, share in (("after a tenth", 0.1), ("at the end", 1.0)):
        last = max(1, round(share * len(tree.samples)))
        memory = max(own for _, own, _ in tree.samples[:last])
        yield Figure(case=f"{case}: main process {name}", value=memory, unit="MB")


def figures(options: argparse.Namespace) -> list[Figure]:
    """Measure local processes and Ray in turn, so that other load of the machine affects both.

    The figures are returned at the end, because Hengwen discards what is printed while Ray is running.
    """
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "lyrics.jsonl"
        count = write_lyrics(source, options.copies)
        case = f"{count:,} lyrics into a folder"
        rows = list(program_figures(source, Path(name) / "scores.jsonl", count))

        def seconds(target: str, pool: AbstractContextManager[ShardPool]) -> float:
            start = time.perf_counter()
            result = score_folder([source], Path(name) / target, pool)
            assert (result.rows, result.failed, result.errors) == (count, 0, ())
            return time.perf_counter() - start

        start = time.perf_counter()
        with ray_pool() as pool:
            rows.append(Figure(case="start of Ray", value=time.perf_counter() - start, unit="s"))
            for turn in range(options.rounds):
                local = seconds(f"local{turn}", local_pool(cores()))
                ray = seconds(f"ray{turn}", nullcontext(pool))
                rows += [
                    Figure(case=f"{case}, processes", value=local, unit="s"),
                    Figure(case=f"{case}, Ray", value=ray, unit="s"),
                    Figure(case=f"{case}, Ray / processes", value=ray / local, unit="x"),
                ]
    return rows


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=3)
    parser.add_argument("--copies", type=int, default=100)
    options = parser.parse_args()
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

"""Measure whether the memory of ``hengwen score`` and ``hengwen run`` grows over a million answers.

    .venv/bin/python benchmarks/bench_million.py [--lyrics 1000000] [--judgments 1000000] [--source FILE]

The lyrics are copies of those in ``../shared/data/muchin-checkpoints.jsonl`` in which some characters differ;
``hengwen score`` writes them with their scores to a file. The judgments come from a local server that answers
after 5 ms, 64 calls at a time; ``hengwen run`` stores them, and ``hengwen report`` reads them all. Figures:
seconds, CPU time and memory of all processes of the command at shares of its time. Target: the memory at 90 %
of the time is at most 1.1 times that at 30 %; the report has no target.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench_judges import write_plan
from bench_main_job import LYRICS, measured, varied_lyrics
from harness.figures import Figure, print_entries, script_parser
from harness.processes import stub

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
LATENCY = 0.005
CONCURRENCY = 64


def write_lyrics(folder: Path, source: Path, count: int) -> Path:
    """Write different lyrics with their templates; return the path of the file."""
    path = folder / "lyrics.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for row in varied_lyrics(source, count):
            values = {"id": row["id"], "template": row["template"], "output": row["lyric"]}
            file.write(json.dumps(values, ensure_ascii=False) + "\n")
    return path


def command_figures(case: str, count: int, command: list[str]) -> Iterator[Figure]:
    """Measure a command of ``hengwen`` that handles a number of answers."""
    wall, cpu, memory = measured(command)
    yield Figure(case=case, value=wall, unit="s")
    yield Figure(case=f"{case}: each", value=1000 * cpu / count, unit="ms of CPU")
    for share in SHARES:
        yield Figure(case=f"{case}: memory at {share:.0%}", value=memory.at(share), unit="MB")
    yield Figure(case=f"{case}: largest memory", value=memory.peak, unit="MB")
    growth = memory.at(0.9) / memory.at(0.3)
    yield Figure(case=f"{case}: memory at 90% / at 30%", value=growth, unit="x", high=1.1)


def report_figures(case: str, store: Path) -> Iterator[Figure]:
    """Measure the report of a store."""
    page = store.with_suffix(".html")
    wall, _, memory = measured(["report", "--store", str(store), "-o", str(page), "--quiet"])
    yield Figure(case=f"{case}: report", value=wall, unit="s")
    yield Figure(case=f"{case}: report: largest memory", value=memory.peak, unit="MB")


def figures(options: argparse.Namespace) -> Iterator[Figure]:
    """Measure both commands."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.lyrics:
            lyrics = write_lyrics(folder, options.source, options.lyrics)
            command = ["score", str(lyrics), "-o", str(folder / "scores.jsonl")]
            yield from command_figures(f"{options.lyrics:,} lyrics", options.lyrics, command)
        if options.judgments:
            os.environ["OPENAI_API_KEY"] = "none"
            with stub(LATENCY) as server:
                plan = write_plan(folder, options.judgments, server.url)
                store = folder / "store.db"
                command = ["run", str(plan), "--store", str(store), "--concurrency", str(CONCURRENCY)]
                command += ["--quiet", "--strict", "--trust"]
                case = f"{options.judgments:,} judgments"
                yield from command_figures(case, options.judgments, command)
            size = store.stat().st_size
            yield Figure(case=f"{case}: store, each", value=size / options.judgments / 1000, unit="kB")
            yield from report_figures(case, store)


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__)
    parser.add_argument("--lyrics", type=int, default=1_000_000, help="number of lyrics; 0 for none")
    parser.add_argument("--judgments", type=int, default=1_000_000, help="number of judgments; 0 for none")
    parser.add_argument("--source", type=Path, default=LYRICS, help="JSONL file with lyrics and templates")
    options = parser.parse_args()
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

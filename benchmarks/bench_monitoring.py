"""Print every simulated figure of monitoring in one table, and the time and memory of a large drift report.

    python benchmarks/bench_monitoring.py [--samples 1000] [--part compare power]

The simulations are those of the slow tests (``tests/monitoring``), with more samples. A figure that misses
its target has a ``!`` before it. The Monte-Carlo error of a share of .05 is .007 with 1,000 samples.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.monitoring.compare import simulations as compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 3


class Figure(NamedTuple):
    """A measured figure with the range that it must be in."""

    design: str
    value: float
    low: float = 0.0
    high: float = inf

    @property
    def is_met(self) -> bool:
        """Whether the figure is in its range."""
        return self.low <= self.value <= self.high

    @property
    def target(self) -> str:
        """The range in words."""
        if self.high == inf:
            return f"at least {self.low:g}"
        return f"at most {self.high:g}" if self.low == 0 else f"{self.low:g} to {self.high:g}"


def compare_figures(samples: int) -> Iterator[Figure]:
    """False alarms of ``hengwen compare`` where nothing changed."""
    for shares in compare.SHARES:
        for prompts in (10, 30):
            for count in range(1, 6):
                alarms = compare.alarms_of_scores(shares, count, prompts, samples)
                yield Figure(f"{count} scores, {prompts} prompts, {shares}", alarms, high=0.06)
    for name, sizes in compare.CLUSTER_SIZES.items():
        yield Figure(f"clusters: {name}", compare.alarms_of_clusters(sizes, samples), high=0.06)
    for prompts in (15, 30, 100):
        alarms = compare.alarms_of_unequal_repeats(prompts, samples)
        yield Figure(f"1 answer against 5, {prompts} prompts", alarms, high=0.06)


def speed_figures(samples: int) -> Iterator[Figure]:  # noqa: ARG001 - measured, not simulated
    """Seconds and peak memory of ``hengwen drift`` on 1 million scores of 100 checkpoints."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "large.db"
        script = Path(__file__).with_name("monitoring_store.py")
        subprocess.run([sys.executable, str(script), str(store)], check=True, stdout=subprocess.DEVNULL)
        command = [sys.executable, "-m", "hengwen", "drift", "--store", str(store), "--json"]
        seconds = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.perf_counter() - start)
    yield Figure("1,000,000 scores, 100 checkpoints: seconds", statistics.median(seconds), high=30)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    yield Figure("the same: peak megabytes of any child", peak, high=500)


PARTS: dict[str, Callable[[int], Iterator[Figure]]] = {
    "compare": compare_figures,
    "speed": speed_figures,
}


def main() -> None:
    """Print a row for each figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS))
    options = parser.parse_args()
    versions = f"Python {sys.version.split()[0]}, numpy {np.__version__}, scipy {scipy.__version__}"
    print(f"{versions}; {options.samples} samples")
    for part in options.part:
        start = time.perf_counter()
        for figure in PARTS[part](options.samples):
            mark = " " if figure.is_met else "!"
            print(f"{part:<12} {figure.design:<52} {mark}{figure.value:>8.3f}  {figure.target}", flush=True)
        print(f"{part:<12} {time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()

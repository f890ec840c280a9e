"""Print the simulated rates that monitoring must keep, and the time and memory of a large drift report.

    python benchmarks/bench_monitoring.py [--samples 1000] [--part compare power]

The simulations are those of the slow tests (``tests/monitoring``). ``--samples`` is the number of simulated
cases, but ``drift`` and ``monitor`` simulate a fifth as many (series of looks, and baselines with many
streams each), ``slope`` twice as many, and the limits of ``gate`` 20 times as many. A figure that misses its
target has a ``!`` before it. The Monte-Carlo error of a share of .05 is .007 with 1,000 cases, and .015 with
200.
"""

from __future__ import annotations

import argparse
import os
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

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the simulations are in tests/

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROUNDS = 3
JITTER = 0.15
"""Standard deviation of the checkpoints in units of the latent standard deviation of an answer."""
GATE_PROMPTS = (5, 6, 10, 20, 30, 50, 100)


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
        """The range that the figure must be in, in words."""
        if self.high == inf:
            return f"at least {self.low:g}"
        return f"at most {self.high:g}" if self.low == 0 else f"{self.low:g} to {self.high:g}"


def mean(values: Sequence[bool]) -> float:
    """Return the share of values that are true."""
    return sum(values) / len(values)


def compare_figures(samples: int) -> Iterator[Figure]:
    """Measure the false alarms of ``hengwen compare`` if nothing changed."""
    from tests.monitoring.compare import simulations as compare

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


def slope_figures(samples: int) -> Iterator[Figure]:
    """Measure the false alarms and the power of the t test of the slope over checkpoints."""
    from tests.stats.checkpoints.test_trend import slope_rejections

    for jitter in (0.0, JITTER):
        for checkpoints in (4, 5, 6, 8, 20):
            share = slope_rejections(checkpoints, jitter=jitter, samples=2 * samples)
            yield Figure(f"no trend, {checkpoints} checkpoints, jitter {jitter:g}", share, 0.029, 0.066)
    for checkpoints, expected in {4: 0.34, 5: 0.46, 6: 0.62, 8: 0.76}.items():
        share = slope_rejections(checkpoints, jitter=JITTER, fall=0.6, samples=2 * samples)
        yield Figure(f"fall of .6, {checkpoints} checkpoints, jitter {JITTER:g}", share, expected - 0.05)


def drift_figures(samples: int) -> Iterator[Figure]:
    """Measure the false alarms of ``hengwen drift`` at 20 looks, if checkpoints vary without a trend."""
    from tests.monitoring.drift import test_false_alarms as drift
    from tests.monitoring.drift.conftest import SHARES, draw_levels, make_series

    fewer = max(1, samples // 5)
    for shares in SHARES:
        for prompts, repeats, jitter in ((12, 1, 0.0), (30, 3, JITTER)):
            alarms = [
                drift.drift_at_any_look(
                    make_series, draw_levels(seed, (prompts, 23, repeats), shares, jitter=jitter)
                )
                for seed in range(fewer)
            ]
            design = f"20 looks, drift, {prompts} x {repeats}, jitter {jitter:g}, {shares}"
            yield Figure(design, mean(alarms), high=0.06)
        alarms = [
            drift.differ_at_any_look(make_series, draw_levels(seed, (24, 21, 1), shares))
            for seed in range(fewer)
        ]
        yield Figure(f"20 looks, differ, 24 x 1, equal, {shares}", mean(alarms), high=0.06)
    for checkpoints, differ in {5: 0.7, 8: 0.85, 20: 0.94}.items():
        answers = [
            drift.first_look(make_series, draw_levels(seed, (100, checkpoints, 3), jitter=JITTER))
            for seed in range(fewer)
        ]
        design = f"jitter {JITTER:g}, {checkpoints} checkpoints"
        yield Figure(f"{design}: differ", mean([item[0] == "differ" for item in answers]), differ)
        yield Figure(f"{design}: drift", mean([item[1] == "drift" for item in answers]), high=0.06)


def judge_drift_figures(samples: int) -> Iterator[Figure]:
    """Drifts of the judge and of the model that are named, and a fallen model that is called stable."""
    from tests.monitoring.judge_drift import simulations as judges

    for name, (case, right) in judges.CASES.items():
        for design, prompts, anchors in (
            ("60 x 3, judged again", 60, None),
            ("250 anchors, 150 x 3", 150, 250),
            ("300 anchors, 150 x 3", 150, 300),
        ):
            shares = judges.verdict_shares(case, prompts, samples, anchors=anchors)
            yield Figure(f"{name}, {design}: named", shares.get(right, 0.0), 0.95)
            wrong = judges.share_of_wrong_names(shares, right)
            yield Figure(f"{name}, {design}: named wrong", wrong, high=0.02)
    for prompts in (15, 60, 150):
        stable = judges.verdict_shares(judges.Case(model=0.2), prompts, samples).get("stable", 0.0)
        yield Figure(f"model fallen by .046, {prompts} x 3: stable", stable, high=0.05)
    stable = judges.verdict_shares(judges.Case(), 300, samples).get("stable", 0.0)
    yield Figure("nothing changed, 300 x 3: stable", stable, 0.95)


def monitor_figures(samples: int) -> Iterator[Figure]:
    """Measure the false alarms of ``Monitor`` with a baseline of 100 scores."""
    from tests.monitoring.streams import test_monitor_rates as monitor

    for name in ("skew", "ceil90", "top97", "beta", "normal", "exponential"):
        for horizon in (200, 1000):
            share = monitor.rate(name, horizon, baselines=max(1, samples // 5))
            yield Figure(f"false alarms, {name}, {horizon} scores", share, high=0.07)


def gate_figures(samples: int) -> Iterator[Figure]:
    """Measure how often gates pass falsely, at one look and at 20 looks at one baseline."""
    from tests.monitoring.gates import test_gate_simulations as gates

    for name in gates.DISTRIBUTIONS:
        shares = [gates.false_passes(name, prompts, 20 * samples) for prompts in GATE_PROMPTS]
        yield Figure(f"truth just below the limit, {name}, worst size", max(shares), high=0.05)
    yield Figure("20 looks at the margin: passed", gates.passes_in_20_looks(samples), high=0.06)
    yield Figure("20 looks, equal runs: fall named", gates.falls_in_20_looks(samples), high=0.06)


def power_figures(samples: int) -> Iterator[Figure]:
    """Measure the power of ``hengwen compare`` at the sizes that ``hengwen power`` plans for .8."""
    from tests.monitoring.power.test_score_power import detections

    for repeats, tests in ((1, 1), (3, 1), (5, 5)):
        share = detections(repeats, tests, samples)
        yield Figure(f"planned size, {repeats} repeats, {tests} scores", share, 0.75, 0.85)


def speed_figures(samples: int) -> Iterator[Figure]:  # noqa: ARG001 - measured, not simulated
    """Measure the seconds and the peak memory of ``hengwen drift`` on 1 million scores of 100 checkpoints."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "large.db"
        script = Path(__file__).with_name("monitoring_store.py")
        subprocess.run([sys.executable, str(script), str(store)], check=True, stdout=subprocess.DEVNULL)
        command = [sys.executable, "-m", "hengwen", "drift", "--store", str(store), "--json"]
        rounds = [measured(command) for _ in range(ROUNDS)]
    seconds, cpu, megabytes = (statistics.median(values) for values in zip(*rounds, strict=True))
    yield Figure("1,000,000 scores, 100 checkpoints: seconds", seconds, high=30)
    yield Figure("the same: seconds of CPU", cpu, high=30)
    yield Figure("the same: peak megabytes", megabytes, high=500)


def measured(command: Sequence[str]) -> tuple[float, float, float]:
    """Run a command; return its seconds, seconds of CPU and peak megabytes."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


PARTS: dict[str, Callable[[int], Iterator[Figure]]] = {
    "compare": compare_figures,
    "slope": slope_figures,
    "drift": drift_figures,
    "judge-drift": judge_drift_figures,
    "monitor": monitor_figures,
    "gate": gate_figures,
    "power": power_figures,
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
            print(f"{part:<12} {figure.design:<56} {mark}{figure.value:>8.3f}  {figure.target}", flush=True)
        print(f"{part:<12} {time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()

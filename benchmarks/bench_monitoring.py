"""Print the simulated rates that monitoring must keep, and the time and memory of a large drift report.

    python benchmarks/bench_monitoring.py [--samples 1000] [--part compare power]

The simulations are those of the slow tests (``tests/monitoring``), except ``course``. ``--samples`` is the
number of simulated cases. The part ``drift`` simulates a fifth as many series, ``judge-drift`` five times as
many, and ``gate`` 20 times as many to test the limits. The Monte-Carlo error of a share of .05 is .007 with
1,000 cases, and .015 with 200.
``speed`` measures ``--rounds`` runs of ``hengwen drift`` on a store of ``--checkpoints``.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from harness.figures import Figure, print_entries, script_parser
from harness.processes import run_process

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]  # the simulations are in tests/

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from hengwen.relevance_metrics.sequence_metrics import Null

SPEED = "speed"
"""Name of the only part that is measured, not simulated."""
JITTER = 0.15
"""Standard deviation of the checkpoints in units of the latent standard deviation of an answer."""
GATE_PROMPTS = (5, 6, 10, 20, 30, 50, 100)


def figure(case: str, value: float, low: float | None = None, high: float | None = None) -> Figure:
    """Return a simulated figure."""
    return Figure(case=case, value=value, unit="", low=low, high=high)


def mean(values: Sequence[bool]) -> float:
    """Return the share of values that are true."""
    return sum(values) / len(values)


def compare_figures(samples: int) -> Iterator[Figure]:
    """Measure the false alarms of ``hengwen compare`` if nothing changed."""
    from tests.monitoring import compare_simulations as compare

    for shares in compare.SHARES:
        for prompts in (10, 30):
            for count in range(1, 6):
                alarms = compare.alarms_of_scores(shares, count, prompts, samples)
                yield figure(f"{count} scores, {prompts} prompts, {shares}", alarms, high=0.06)
    for name, sizes in compare.CLUSTER_SIZES.items():
        yield figure(f"clusters: {name}", compare.alarms_of_clusters(sizes, samples), high=0.06)
    for prompts in (15, 30, 100):
        alarms = compare.alarms_of_unequal_repeats(prompts, samples)
        yield figure(f"1 answer against 5, {prompts} prompts", alarms, high=0.06)


def drift_figures(samples: int) -> Iterator[Figure]:
    """Measure the false alarms of ``hengwen drift``, run up to 20 times on checkpoints without a trend."""
    from tests.monitoring.drift import test_false_alarms as drift
    from tests.monitoring.drift.conftest import SHARES, draw_levels, make_series

    fewer = max(1, samples // 5)
    for shares in SHARES:
        for prompts, repeats, jitter in ((12, 1, 0.0), (30, 3, JITTER)):
            alarms = [
                drift.drift_at_any_look(draw_levels(seed, (prompts, 23, repeats), shares, jitter=jitter))
                for seed in range(fewer)
            ]
            design = f"20 looks, drift, {prompts} x {repeats}, jitter {jitter:g}, {shares}"
            yield figure(design, mean(alarms), high=0.06)
        alarms = [
            drift.differ_at_any_look(make_series, draw_levels(seed, (24, 21, 1), shares))
            for seed in range(fewer)
        ]
        yield figure(f"20 looks, differ, 24 x 1, equal, {shares}", mean(alarms), high=0.06)
    for checkpoints, differ in {5: 0.7, 8: 0.85, 20: 0.94}.items():
        answers = [
            drift.first_look(make_series, draw_levels(seed, (100, checkpoints, 3), jitter=JITTER))
            for seed in range(fewer)
        ]
        design = f"jitter {JITTER:g}, {checkpoints} checkpoints"
        yield figure(f"{design}: differ", mean([item[0] == "differ" for item in answers]), differ)
        yield figure(f"{design}: drift", mean([item[1] == "drift" for item in answers]), high=0.06)
    for checkpoints in (4, 6, 8, 12):
        answers = [
            drift.first_look(make_series, draw_levels(seed, (30, checkpoints, 3), jitter=JITTER, fall=0.6))
            for seed in range(fewer)
        ]
        design = f"fall of .6, jitter {JITTER:g}, {checkpoints} checkpoints"
        yield figure(f"{design}: drift", mean([item[1] == "drift" for item in answers]))


def course_figures(samples: int) -> Iterator[Figure]:
    """Measure how often metrics of the order are significant for autocorrelated means without a drift.

    The means of 100 checkpoints are an AR(1) process; neighbours have a correlation of .6.
    """
    from hengwen.relevance_metrics import significance

    for metric in ("cin", "pen", "lis"):
        nulls: tuple[tuple[Null, int | None], ...] = (("shuffle", None), ("block", 10))
        for null, block in nulls:
            false_alarms = [
                significance(autocorrelated(seed), metric, n_perm=999, null=null, block=block).p <= 0.05
                for seed in range(samples)
            ]
            yield figure(f"100 autocorrelated means, {metric}, {null}: significant", mean(false_alarms))


def autocorrelated(seed: int, count: int = 100, correlation: float = 0.6) -> list[float]:
    """Return an AR(1) process with standard deviation 1."""
    import numpy as np

    rng = np.random.default_rng(seed)
    values = [float(rng.normal())]
    for noise in rng.normal(0, (1 - correlation**2) ** 0.5, count - 1):
        values.append(correlation * values[-1] + float(noise))
    return values


def gate_figures(samples: int) -> Iterator[Figure]:
    """Measure how often gates pass falsely in one test, and in 20 tests against the same baseline."""
    from tests.monitoring.gates import test_gate_simulations as gates

    for name in gates.DISTRIBUTIONS:
        shares = [gates.false_passes(name, prompts, 20 * samples) for prompts in GATE_PROMPTS]
        yield figure(f"truth just below the limit, {name}, worst size", max(shares), high=0.05)
    yield figure("20 looks at the margin: passed", gates.passes_in_20_looks(samples), high=0.06)
    yield figure("20 looks, equal runs: fall named", gates.falls_in_20_looks(samples), high=0.06)


def speed_figures(checkpoints: int, rounds: int) -> Iterator[Figure]:
    """Measure the seconds and the peak memory of ``hengwen drift`` on a store with many checkpoints."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "large.db"
        script = Path(__file__).with_name("monitoring_store.py")
        command = [sys.executable, str(script), str(store), "--checkpoints", str(checkpoints)]
        run_process(command)
        case = f"hengwen drift, {checkpoints} checkpoints of 10,000 scores"
        for _ in range(rounds):
            usage = run_process([sys.executable, "-m", "hengwen", "drift", "--store", str(store), "--json"])
            yield Figure(case=case, value=usage.wall, unit="s", high=30)
            yield Figure(case=case, value=usage.cpu, unit="s of CPU", high=30)
            yield Figure(case=f"{case}: peak memory", value=usage.megabytes, unit="MB", high=500)


MODULES: tuple[str, ...] = (
    "admission",
    "calibration",
    "family",
    "decision",
    "groups",
    "intervals",
    "judge-drift",
    "rankings",
    "slope",
)
"""Modules of ``simulations/`` with a function ``figures(samples)``; a part has the name of its module."""


def of_module(name: str) -> Callable[[int], Iterator[Figure]]:
    """Return a function that measures the part in a module of ``simulations/``."""
    return lambda samples: import_module(f"simulations.{name.replace('-', '_')}").figures(samples)


PARTS: dict[str, Callable[[int], Iterator[Figure]]] = {
    "compare": compare_figures,
    "drift": drift_figures,
    "course": course_figures,
    "gate": gate_figures,
    **{name: of_module(name) for name in MODULES},
}


def figures(options: argparse.Namespace) -> Iterator[Figure]:
    """Measure all parts."""
    for part in options.part:
        if part == SPEED:
            yield from speed_figures(options.checkpoints, options.rounds)
            continue
        for item in PARTS[part](options.samples):
            yield replace(item, case=f"{part}: {item.case}")


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=3)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--checkpoints", type=int, default=100)
    parts = [*PARTS, SPEED]
    parser.add_argument("--part", choices=parts, nargs="+", default=parts)
    options = parser.parse_args()
    with patch("quick_tests.FLIPS", 999):  # the tests, which have fewer cases, draw fewer
        print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

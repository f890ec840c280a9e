"""Measure the time to compute the interval of a mean, compared with scipy's BCa bootstrap.

    python benchmarks/bench_intervals.py [--sizes 100 10000 1000000] [--rounds 5]

The scores have five levels, most of them the best one; every prompt has one answer. The bootstrap is
measured up to 10,000 values. Target: the interval of a million values takes at most 0.2 s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harness.figures import Figure, cpu_seconds, print_entries, script_parser
from hengwen.records import Scale
from hengwen.results.aggregate import summarize_column
from hengwen.results.score_table import Column
from hengwen.stats.mean_interval import mean_interval

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

TARGET_SIZE = 1_000_000
MAX_BOOTSTRAP_SIZE = 10_000
LEVELS, SHARES = np.array([0, 0.25, 0.5, 0.75, 1]), [0.025] * 4 + [0.9]


def milliseconds(call: Callable[[], object]) -> float:
    """Return the CPU time of a call in milliseconds."""
    start = cpu_seconds()
    call()
    return 1000 * (cpu_seconds() - start)


def column_of(values: list[float]) -> Column:
    """Return the scores of one series, with one answer to each prompt."""
    column = Column(scale=Scale(low=0, high=1))
    for number, value in enumerate(values):
        column.append(f"p{number}", 1, f"p{number}", "ok", value, "s|v:1")
    return column


def bootstrap(values: np.ndarray) -> object:
    """Return scipy's BCa interval of the mean from 4,999 resamples."""
    from scipy import stats

    return stats.bootstrap((values,), np.mean, n_resamples=4999, method="BCa", batch=100, rng=0)


def figures(options: argparse.Namespace) -> Iterator[Figure]:
    """Measure each number of values."""
    rng, unit = np.random.default_rng(0), "ms of CPU"
    for size in options.sizes:
        values = rng.choice(LEVELS, size, p=SHARES)
        column = column_of(values.tolist())
        mean_interval(values, scale=(0, 1))  # import the modules
        high = 200 if size == TARGET_SIZE else None
        for turn in range(options.rounds):
            interval = milliseconds(lambda values=values: mean_interval(values, scale=(0, 1)))
            yield Figure(case=f"interval, {size:,} values", value=interval, unit=unit, high=high)
            summary = milliseconds(lambda column=column: summarize_column(column))
            yield Figure(case=f"whole summary, {size:,} values", value=summary, unit=unit)
            if turn == 0 and size <= MAX_BOOTSTRAP_SIZE:
                peer = milliseconds(lambda values=values: bootstrap(values))
                yield Figure(case=f"interval, {size:,} values", system="scipy BCa", value=peer, unit=unit)


def main() -> None:
    """Print the figures."""
    parser = script_parser(__doc__, rounds=5)
    sizes = [100, 1_000, 10_000, 100_000, TARGET_SIZE]
    parser.add_argument("--sizes", type=int, nargs="+", default=sizes)
    options = parser.parse_args()
    print_entries(figures(options), as_json=options.json)


if __name__ == "__main__":
    main()

"""Measure the time to compute the interval of a mean, compared with scipy's BCa bootstrap.

    python benchmarks/bench_intervals.py

The scores have five levels, most of them the best one; every prompt has one answer. The table shows medians
of five rounds. The bootstrap, which reports used before, is timed once, up to 10,000 values.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import numpy as np
import scipy

from hengwen.records import Scale
from hengwen.results.aggregate import summarize_column
from hengwen.results.score_table import Column
from hengwen.stats.mean_interval import mean_interval

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 5
LEVELS, SHARES = np.array([0, 0.25, 0.5, 0.75, 1]), [0.025] * 4 + [0.9]


def median_ms(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the median time of a call in milliseconds."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return 1000 * statistics.median(seconds)


def column_of(values: list[float]) -> Column:
    """Return the scores of one series, with one answer to each prompt."""
    names = [f"p{number}" for number in range(len(values))]
    return Column(
        sample_ids=list(names),
        repeats=[1] * len(values),
        clusters=list(names),
        values=list(values),
        statuses=["ok"] * len(values),
        signatures={"s|v:1"},
        scale=Scale(low=0, high=1),
    )


def bootstrap(values: np.ndarray) -> object:
    """Return scipy's BCa interval with the number of resamples that reports used before."""
    return scipy.stats.bootstrap((values,), np.mean, n_resamples=4999, method="BCa", batch=100, rng=0)


def main() -> None:
    """Print a row for each number of values."""
    import scipy.stats

    rng = np.random.default_rng(0)
    print(f"numpy {np.__version__}, scipy {scipy.__version__}; medians of {ROUNDS}, milliseconds")
    print(f"{'values':>9} {'mean_interval':>14} {'whole summary':>14} {'scipy BCa':>10}")
    for size in (100, 1_000, 10_000, 100_000, 1_000_000):
        values = rng.choice(LEVELS, size, p=SHARES)
        column = column_of(values.tolist())
        interval = median_ms(lambda values=values: mean_interval(values, scale=(0, 1)))
        summary = median_ms(lambda column=column: summarize_column(column))
        peer = f"{median_ms(lambda values=values: bootstrap(values), 1):.0f}" if size <= 10_000 else "-"
        print(f"{size:>9,} {interval:>14.2f} {summary:>14.1f} {peer:>10}")


if __name__ == "__main__":
    main()

"""Time the sequence metrics against scipy, a patience sort with bisect, and, if installed, antropy and ordpy.

    python -m pytest benchmarks/bench_sequences.py --benchmark-only --benchmark-group-by=group

Compare the medians within a group: each group holds one metric of Hengwen and the libraries that compute it
too. Targets: permutation entropy (PEN) takes a third of the time of antropy, and a fifth for many short
sequences. The number of inversions (CIN) takes half of the time of scipy on scores from 1 to 5, and no more
than scipy on floats. The longest increasing subsequence (LIS) takes no more than the patience sort.
"""

from __future__ import annotations

from bisect import bisect_left
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from harness.figures import measure
from hengwen.relevance_metrics import (
    count_inversions,
    longest_increasing_subsequence,
    permutation_entropy,
    rolling,
)

pytest.importorskip("pytest_benchmark")

N = 1_000_000
RNG = np.random.default_rng(0)
FLOATS = RNG.normal(size=N)
LEVELS = RNG.integers(1, 6, N)
ORDER = np.arange(N)
BATCH = RNG.normal(size=(10_000, 50))
SERIES = RNG.normal(size=100_000)
DATA = {"floats": FLOATS, "levels": LEVELS}


def peer(name: str) -> Any:
    return pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is not installed")


def patience(x: Any) -> int:
    tails: list[float] = []
    for score in x.tolist():
        index = bisect_left(tails, score)
        if index == len(tails):
            tails.append(score)
        else:
            tails[index] = score
    return len(tails)


@pytest.mark.parametrize("m", range(3, 8))
def test_pen(benchmark: Any, m: int) -> None:
    assert measure(benchmark, lambda: permutation_entropy(FLOATS, m), f"pen m={m}, n=1e6", rounds=15) > 1.7


@peer("antropy")
@pytest.mark.parametrize("m", range(3, 8))
def test_pen_antropy(benchmark: Any, m: int) -> None:
    import antropy

    result = measure(
        benchmark,
        lambda: antropy.perm_entropy(FLOATS, m),
        f"pen m={m}, n=1e6",
        rounds=15,
        system="antropy",
        ratio_high=1 / 3,
    )
    assert result == pytest.approx(permutation_entropy(FLOATS, m, base=2))


@peer("ordpy")
@pytest.mark.parametrize("m", [3])
def test_pen_ordpy(benchmark: Any, m: int) -> None:
    import ordpy

    result = measure(
        benchmark,
        lambda: ordpy.permutation_entropy(FLOATS, m, normalized=False, base="e"),
        f"pen m={m}, n=1e6",
        rounds=3,
        system="ordpy",
    )
    assert result == pytest.approx(permutation_entropy(FLOATS, m))


@pytest.mark.parametrize("m", [3, 4])
def test_pen_batch(benchmark: Any, m: int) -> None:
    assert measure(
        benchmark, lambda: permutation_entropy(BATCH, m), f"pen m={m}, 10,000 x 50", rounds=51
    ).shape == (10_000,)


@peer("antropy")
@pytest.mark.parametrize("m", [3, 4])
def test_pen_batch_antropy(benchmark: Any, m: int) -> None:
    import antropy

    result = measure(
        benchmark,
        lambda: antropy.perm_entropy(BATCH, m),
        f"pen m={m}, 10,000 x 50",
        rounds=51,
        system="antropy",
        ratio_high=1 / 5,
    )
    assert result == pytest.approx(permutation_entropy(BATCH, m, base=2))


def test_pen_rolling(benchmark: Any) -> None:
    assert (
        len(
            measure(
                benchmark, lambda: rolling(SERIES, 50, ["pen"]), "pen m=3, rolling 50 over 1e5", rounds=15
            )["pen"]
        )
        == 99_951
    )


@peer("antropy")
def test_pen_rolling_antropy(benchmark: Any) -> None:
    import antropy

    result = measure(
        benchmark,
        lambda: antropy.perm_entropy(sliding_window_view(SERIES, 50), 3),
        "pen m=3, rolling 50 over 1e5",
        rounds=15,
        system="antropy",
        ratio_high=1 / 5,
    )
    assert result == pytest.approx(rolling(SERIES, 50, ["pen"], base=2)["pen"])


@pytest.mark.parametrize("kind", DATA)
def test_cin(benchmark: Any, kind: str) -> None:
    assert measure(benchmark, lambda: count_inversions(DATA[kind]), f"cin {kind}, n=1e6", rounds=9) > 0


@pytest.mark.parametrize("kind", DATA)
def test_cin_scipy(benchmark: Any, kind: str) -> None:
    from scipy.stats import kendalltau

    x = DATA[kind]
    tau = measure(
        benchmark,
        lambda: kendalltau(ORDER, x),
        f"cin {kind}, n=1e6",
        rounds=9,
        system="scipy",
        ratio_high=1 / 2 if kind == "levels" else 1,
    ).statistic
    pairs, sizes = N * (N - 1) // 2, np.unique(x, return_counts=True)[1]
    untied = pairs - int((sizes * (sizes - 1) // 2).sum())
    assert round((untied - tau * (pairs * untied) ** 0.5) / 2) == count_inversions(x)


@pytest.mark.parametrize("metric", ["cin", "lis"])
def test_rolling(benchmark: Any, metric: Any) -> None:
    assert (
        len(
            measure(
                benchmark, lambda: rolling(SERIES, 50, [metric]), f"{metric}, rolling 50 over 1e5", rounds=5
            )[metric]
        )
        == 99_951
    )


@pytest.mark.parametrize("kind", DATA)
def test_lis(benchmark: Any, kind: str) -> None:
    assert (
        measure(benchmark, lambda: longest_increasing_subsequence(DATA[kind]), f"lis {kind}, n=1e6", rounds=9)
        > 0
    )


@pytest.mark.parametrize("kind", DATA)
def test_lis_patience(benchmark: Any, kind: str) -> None:
    result = measure(
        benchmark, lambda: patience(DATA[kind]), f"lis {kind}, n=1e6", rounds=9, system="bisect", ratio_high=1
    )
    assert result == longest_increasing_subsequence(DATA[kind])

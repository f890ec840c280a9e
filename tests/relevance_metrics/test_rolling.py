from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.relevance_metrics import (
    count_inversions,
    longest_increasing_subsequence,
    permutation_entropy,
    rolling,
)

ALL = ("mean", "pen", "cin", "lis", "lnds")


def expected(part: Any, m: int, delay: int) -> dict[str, float]:
    return {
        "mean": float(np.mean(part)),
        "pen": permutation_entropy(part, m, delay),
        "cin": count_inversions(part),
        "lis": longest_increasing_subsequence(part),
        "lnds": longest_increasing_subsequence(part, strict=False),
    }


@pytest.mark.slow
@given(
    x=st.lists(st.integers(1, 5), min_size=12, max_size=60),
    window=st.integers(7, 12),
    step=st.integers(1, 9),
    m=st.integers(2, 4),
    delay=st.integers(1, 2),
)
@settings(deadline=None, max_examples=100)
def test_each_window_is_that_slice_alone(x: list[int], window: int, step: int, m: int, delay: int) -> None:
    result = rolling(x, window, ALL, step, m=m, delay=delay)
    starts = range(0, len(x) - window + 1, step)
    assert result.starts.tolist() == list(starts)
    for i, start in enumerate(starts):
        metrics = expected(x[start : start + window], m, delay)
        assert {name: result[name][i] for name in ALL} == pytest.approx(metrics, abs=1e-12)
        assert result["pen"][i] == metrics["pen"]


@pytest.mark.slow
@each_row(("window", "m", "step"), [(300, 3, 1), (300, 3, 200), (60, 6, 1), (1030, 3, 400)])
def test_wide_windows_of_floats_agree_too(window: int, m: int, step: int) -> None:
    x = np.random.default_rng(0).normal(size=1500)
    result = rolling(x, window, ALL, step, m=m)
    for i in range(0, len(result.starts), 40):
        start = result.starts[i]
        metrics = expected(x[start : start + window], m, 1)
        assert {name: result[name][i] for name in ALL} == pytest.approx(metrics, abs=1e-12)


@each_row(
    ("arguments", "message"),
    [
        (([1, 2], 3), "2 scores do not fill a window of 3"),
        (([1, 2, 3], 2), "2 scores are too few for m=3"),
        (([1, 2, 3], 3, ["tau"]), "unknown metric 'tau'"),
        (([1, 2, 3], 0), "window must be"),
        (([1, 2, 3], 3, ["cin"], 0), "step must be"),
        (([1, math.nan, 3], 3), "score 1 is NaN"),
        (([[1, 2, 3]], 3), "one sequence"),
        (([1, math.inf, 3], 3, ["mean"]), "a mean needs finite scores"),
    ],
)
def test_rolling_errors_say_what_to_do(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rolling(*arguments)

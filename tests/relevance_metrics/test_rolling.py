from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.relevance_metrics import (
    StreamingMetrics,
    count_inversions,
    longest_increasing_subsequence,
    permutation_entropy,
    rolling,
)
from hengwen.relevance_metrics.sequence_metrics import METRICS

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


def test_a_rolling_result_says_how_it_was_made() -> None:
    result = rolling([1, 2, 3, 2], 3, ["cin"], base=2)
    assert (result.n, result.window, result.step, result.m, result.delay, result.base) == (4, 3, 1, 3, 1, 2)
    assert list(result.values) == ["cin"]


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


@pytest.mark.slow
@given(
    x=st.lists(st.integers(1, 5) | st.floats(-5, 5), min_size=1, max_size=60),
    window=st.integers(5, 15),
    m=st.integers(2, 3),
    delay=st.integers(1, 2),
)
@settings(deadline=None, max_examples=100)
def test_a_stream_is_the_metric_of_its_last_scores(x: list[float], window: int, m: int, delay: int) -> None:
    stream = StreamingMetrics(window, ALL, m=m, delay=delay)
    for end, score in enumerate(x, 1):
        result = stream.update(score)
        part = x[max(0, end - window) : end]
        enough = len(part) > (m - 1) * delay
        metrics = expected(part, m if enough else 2, delay) if len(part) > delay else {}
        assert (result.n, result.size) == (end, len(part))
        assert result.cin == count_inversions(part)
        assert result.lis == longest_increasing_subsequence(part)
        assert result.lnds == longest_increasing_subsequence(part, strict=False)
        assert result.mean == pytest.approx(np.mean(part))
        assert result.pen == (pytest.approx(metrics["pen"], abs=1e-12) if enough else None)
        assert result.windows == max(0, len(part) - (m - 1) * delay)
        ties = sum(a == b for i, a in enumerate(part) for b in part[i + 1 :])
        assert result.tied_share == pytest.approx(ties / max(1, math.comb(len(part), 2)))


@pytest.mark.slow
def test_a_long_stream_does_not_drift() -> None:
    x = np.random.default_rng(0).integers(1, 6, 20_000).tolist()
    stream = StreamingMetrics(50, ("pen", "cin"))
    for score in x:
        result = stream.update(score)
    assert result.pen == pytest.approx(permutation_entropy(x[-50:]), abs=1e-12)
    assert result.cin == count_inversions(x[-50:])
    assert (result.mean, result.lis) == (None, None)


def test_a_quiet_stream_has_entropy_zero_and_no_sign() -> None:
    stream = StreamingMetrics(7)
    for score in [5, 4, 3, 2, 2, 2, 2, 2, 2, 2, 2]:
        result = stream.update(score)
    assert result.pen == 0
    assert math.copysign(1, result.pen) == 1


def test_a_refused_score_leaves_the_stream_as_it_was() -> None:
    stream = StreamingMetrics(4, m=2)
    stream.update(1)
    before = stream.update(2.5)
    for bad in (math.nan, math.inf, "x", None, [1]):
        with pytest.raises((TypeError, ValueError), match=r"NaN|number|one|finite"):
            stream.update(bad)
    assert stream.snapshot() == before


def test_an_empty_stream_has_nothing_to_say() -> None:
    result = StreamingMetrics(4, m=2).snapshot()
    assert (result.n, result.pen, result.mean, result.cin, result.lis) == (0, None, None, 0, 0)


@each_row(
    ("arguments", "options", "message"),
    [
        ((2,), {}, "window must be a whole number >= 3, got 2"),
        ((3,), {"delay": 2}, ">= 5"),
        ((5, ["tau"]), {}, "unknown metric 'tau'"),
        ((5,), {"base": 0}, "base must be"),
    ],
)
def test_stream_errors_say_what_to_do(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StreamingMetrics(*arguments, **options)


def test_a_metric_that_is_only_registered_is_computed_by_rolling_and_refused_by_a_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    last = replace(METRICS["pen"], name="last", evaluate=lambda rows, _m, _delay: rows[:, -1] * 1.0)
    monkeypatch.setitem(METRICS, "last", last)
    monkeypatch.setattr("hengwen.relevance_metrics.rolling_windows.ROLLING_METRICS", ("mean", *METRICS))
    assert rolling([1, 2, 3], 2, ["last"])["last"].tolist() == [2, 3]
    with pytest.raises(ValueError, match="'last' is not computed for streams; call rolling"):
        StreamingMetrics(5, ["mean", "last"])

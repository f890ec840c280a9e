from __future__ import annotations

import math
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.relevance_metrics import pattern_counts, permutation_entropy

scores = st.lists(st.integers(1, 5), min_size=3, max_size=40)


def slow_counts(x: list[Any], m: int, delay: int) -> Counter[tuple[int, ...]]:
    windows = (x[t : t + (m - 1) * delay + 1 : delay] for t in range(len(x) - (m - 1) * delay))
    return Counter(tuple(sorted(range(m), key=window.__getitem__)) for window in windows)


def slow_entropy(x: list[Any], m: int, delay: int) -> float:
    counts = slow_counts(x, m, delay).values()
    return -sum(c / sum(counts) * math.log(c / sum(counts)) for c in counts)


@each_row(
    ("x", "options", "expected"),
    [
        pytest.param([4, 7, 9, 10, 6, 11, 3], {}, 1.0549201679861442, id="bandt and pompe, as ordpy 1.2.3"),
        pytest.param([4, 7, 9, 10, 6, 11, 3], {"base": 2}, 1.5219280948873621, id="as antropy 0.2.3"),
        pytest.param([1, 1, 1, 1], {}, 0.0, id="constant"),
        pytest.param([1, 2, 3], {}, 0.0, id="one window"),
        pytest.param([4, 3, 2, 1], {"normalize": True}, 0.0, id="falls"),
        pytest.param([1, 2, 1], {"m": 2, "base": 2}, 1.0, id="one bit"),
        pytest.param([1, 3, 2, 4], {"m": 4}, 0.0, id="as long as m"),
        pytest.param([1, 9, 2, 8, 3], {"m": 2, "delay": 2}, math.log(3) - 2 / 3 * math.log(2), id="delay"),
        pytest.param([-math.inf, 0, math.inf, 1], {"m": 2, "base": 3}, 0.5793801642856950, id="infinite"),
    ],
)
def test_hand_counted_values(x: list[float], options: dict[str, Any], expected: float) -> None:
    value = permutation_entropy(x, **options)
    assert value == pytest.approx(expected, abs=1e-12)
    assert math.copysign(1, value) == 1


@pytest.mark.slow
@given(x=scores, m=st.integers(2, 6), delay=st.integers(1, 3))
@settings(deadline=None, max_examples=150)
def test_it_is_the_entropy_of_sorted_windows(x: list[int], m: int, delay: int) -> None:
    if len(x) <= (m - 1) * delay:
        with pytest.raises(ValueError, match="too few"):
            permutation_entropy(x, m, delay)
        return
    assert permutation_entropy(x, m, delay) == pytest.approx(slow_entropy(x, m, delay), abs=1e-12)
    assert pattern_counts(x, m, delay) == slow_counts(x, m, delay)


@each_row("m", [7, 8, 9, 12, 13, 20, 21, 25])
def test_large_orders_are_counted_too(m: int) -> None:
    x = [(i * i * 7919) % 101 for i in range(60)] * 2
    assert permutation_entropy(x, m) == pytest.approx(slow_entropy(x, m, 1), abs=1e-12)
    assert pattern_counts(x, m) == slow_counts(x, m, 1)


@each_row("m", [3, 5, 7])
@each_row("delay", [1, 40])
def test_blocks_join_without_a_seam(m: int, delay: int) -> None:
    x = np.array([(i * i * 7919 + i) % 997 for i in range(40_000)])
    whole = np.stack([x[j * delay : len(x) - (m - 1 - j) * delay] for j in range(m)], axis=1)
    orders = np.argsort(whole, axis=1, kind="stable") @ m ** np.arange(m)
    shares = np.unique(orders, return_counts=True)[1] / len(whole)
    assert permutation_entropy(x, m, delay) == pytest.approx(-(shares * np.log(shares)).sum(), abs=1e-12)


@given(x=scores, m=st.integers(2, 4))
@settings(deadline=None, max_examples=60)
def test_a_rising_map_changes_nothing(x: list[int], m: int) -> None:
    if len(x) >= m:
        assert permutation_entropy(x, m) == permutation_entropy([math.exp(v) - 100 for v in x], m)


@pytest.mark.slow
@given(rows=st.integers(1, 12), n=st.integers(5, 40), m=st.integers(2, 5), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=60)
def test_a_batch_gives_the_same_bits_as_its_rows(rows: int, n: int, m: int, seed: int) -> None:
    x = np.random.default_rng(seed).integers(1, 6, (rows, n))
    expected = [permutation_entropy(row, m) for row in x]
    assert permutation_entropy(x, m).tolist() == expected
    assert permutation_entropy(x.T, m, axis=0).tolist() == expected
    assert permutation_entropy(np.asfortranarray(x), m).tolist() == expected


@pytest.mark.slow
def test_batches_of_any_size_agree_with_their_rows() -> None:
    rng = np.random.default_rng(0)
    for shape in ((3000, 60), (3, 5000), (40, 300), (2, 3, 30)):
        x = rng.normal(size=shape)
        expected = [permutation_entropy(row) for row in x.reshape(-1, shape[-1])]
        assert permutation_entropy(x).ravel().tolist() == expected
    assert permutation_entropy(np.zeros((0, 9))).shape == (0,)


def test_stable_ties_favour_the_rise_as_enumerated() -> None:
    counts = Counter(next(iter(pattern_counts(window))) for window in product(range(5), repeat=3))
    assert counts[0, 1, 2] / 125 == pytest.approx(0.28)
    shares = [count / 125 for count in counts.values()]
    assert -sum(p * math.log(p) for p in shares) == pytest.approx(1.7313, abs=5e-5)


@each_row(
    ("x", "options", "message"),
    [
        pytest.param([[1, 2, 3], [1, math.nan, 2]], {}, r"score \(1, 1\) is NaN", id="nan in a batch"),
        pytest.param([[1, 2], [3]], {}, "ragged", id="ragged"),
        pytest.param([1, 2], {}, "2 scores are too few for m=3 and delay=1, which need 3", id="short"),
        pytest.param([1, 2, 3, 4], {"delay": 2}, "lower m to 2, lower delay or add", id="short for delay"),
        pytest.param([], {}, "0 scores are too few.*add scores", id="empty"),
        pytest.param(
            [1, 2, 3], {"m": 2.5}, "m must be a whole number >= 2, got 2.5", id="m is no whole number"
        ),
        pytest.param([1, 2, 3], {"normalize": "m!"}, "normalize must be True or False", id="normalize"),
        pytest.param([1, 2, 3], {"m": 1}, "m must be a whole number >= 2, got 1", id="m"),
        pytest.param([1, 2, 3], {"delay": 0}, "delay must be", id="delay"),
        pytest.param([1, 2, 3], {"base": 1}, "base must be 'e' or a number above 1", id="base"),
        pytest.param([1, 2, 3], {"base": "2"}, "base must be", id="base as text"),
        pytest.param([1, 2, 3], {"axis": 1}, "axis 1 is out of range", id="axis"),
    ],
)
def test_errors_say_what_to_do(x: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        permutation_entropy(x, **options)


@each_row(
    ("x", "options", "message"),
    [
        pytest.param(["5", "4", "x"], {}, "must be numbers, got 'x'", id="strings"),
        pytest.param([1, None, 2], {}, "got None at position 1", id="none"),
        pytest.param([1j, 2, 3], {}, "must be numbers", id="complex"),
        pytest.param(5, {}, "must be a sequence, got one value 5", id="one number"),
        pytest.param(np.array(5), {}, "must be a sequence, got one value 5", id="an array without an axis"),
    ],
)
def test_a_wrong_type_says_what_is_expected(x: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        permutation_entropy(x, **options)


def test_other_kinds_of_input_are_read() -> None:
    x = [5, 4, 5, 4, 3, 6]
    masked = np.ma.array([5, 4, 9, 5, 4, 3, 6], mask=[0, 0, 1, 0, 0, 0, 0])
    expected = permutation_entropy(x)
    assert permutation_entropy(masked.compressed()) == expected
    assert permutation_entropy(np.array(x, object)) == expected
    assert permutation_entropy(np.array(x, ">f8")) == expected
    assert permutation_entropy(np.array(x, np.uint64) + np.uint64(2**63)) == expected
    assert permutation_entropy([True, False, True]) == 0.0
    assert permutation_entropy(np.ma.array(x)) == expected

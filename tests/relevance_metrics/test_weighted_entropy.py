"""Weighted permutation entropy."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.relevance_metrics import (
    permutation_entropy,
    weighted_permutation_entropy,
)

Y = [(i * i * 7919) % 101 for i in range(40)]


@each_row(
    ("options", "expected"),
    [
        ({"m": 3}, 1.7258890456689606),
        ({"m": 4, "base": 2}, 4.0146234305848525),
        ({"m": 3, "delay": 2}, 1.6982550054568106),
        ({"m": 3, "normalize": "m!"}, 1.7258890456689606 / math.log(6)),
    ],
)
def test_weighted_entropy_is_that_of_ordpy(options: dict[str, Any], expected: float) -> None:
    # ordpy 1.2.3, weighted_permutation_entropy, not normalized
    assert weighted_permutation_entropy(Y, **options) == pytest.approx(expected, abs=1e-9)


def test_weights_are_the_variances() -> None:
    # rise of 3 (weight 2.25) and fall of 1 (weight .25): shares .9 and .1
    expected = -(0.9 * math.log(0.9) + 0.1 * math.log(0.1))
    assert weighted_permutation_entropy([0, 3, 2], 2) == pytest.approx(expected, abs=1e-12)
    assert weighted_permutation_entropy([[0, 3, 2], [4, 4, 4]], 2).tolist() == pytest.approx([expected, 0])


def test_equal_weights_are_no_weights() -> None:
    x = [1, 2, 1, 2, 3, 2, 1]
    assert weighted_permutation_entropy(x, 2) == pytest.approx(permutation_entropy(x, 2), abs=1e-12)


@given(st.lists(st.integers(1, 5), min_size=3, max_size=30), st.floats(0.01, 100))
@settings(deadline=None, max_examples=60)
def test_weighted_entropy_knows_no_unit(x: list[int], unit: float) -> None:
    result = weighted_permutation_entropy(x)
    assert 0 <= result <= math.log(6) + 1e-12
    assert math.copysign(1, result) == 1
    assert weighted_permutation_entropy([v * unit for v in x]) == pytest.approx(result, abs=1e-9)


def test_weights_need_finite_scores() -> None:
    with pytest.raises(ValueError, match="finite"):
        weighted_permutation_entropy([1, math.inf, 2])
    assert weighted_permutation_entropy([1e300, -1e300, 5, 1e299]) > 0

from __future__ import annotations

import json
import math
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rows import each_row

from hengwen.relevance_metrics import (
    count_inversions,
    longest_increasing_subsequence,
    permutation_entropy,
    significance,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_the_moments_of_inversions_are_those_of_the_cases(shared: Callable[[str], Path]) -> None:
    for line in shared("data/sequence-cases.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if case["n"]:
            moments = significance(case["x"], n_perm=1)
            assert moments.null_mean == pytest.approx(case["cin_expected_shuffle"], abs=1e-9)
            assert moments.null_sd == pytest.approx(math.sqrt(case["cin_var_shuffle"]), abs=1e-9)


@each_row("x", [[1, 2, 3, 4, 5], [1, 1, 2, 3, 3], [2, 2, 2, 1], [7]])
def test_the_moments_of_inversions_are_those_of_all_orders(x: list[int]) -> None:
    counts = [count_inversions(order) for order in permutations(x)]
    moments = significance(x, n_perm=1)
    assert (moments.null_mean, moments.null_sd) == pytest.approx((np.mean(counts), np.std(counts)))


@each_row("metric", ["pen", "lis", "lnds"])
def test_few_orders_are_all_taken(metric: Any) -> None:
    x = [1, 1, 2, 3, 4]
    functions: dict[str, Any] = {
        "pen": permutation_entropy,
        "lis": longest_increasing_subsequence,
        "lnds": lambda order: longest_increasing_subsequence(order, strict=False),
    }
    values = [functions[metric](order) for order in permutations(x)]
    moments = significance(x, metric)
    assert (moments.null_mean, moments.null_sd) == pytest.approx((np.mean(values), np.std(values)))
    assert (moments.exact, moments.orders) == (True, 60)


@each_row(
    ("n", "mean"),
    [pytest.param(20, 6.63, id="20"), pytest.param(50, 11.28, id="50"), pytest.param(100, 16.74, id="100")],
)
def test_the_mean_lis_is_the_measured_one_not_two_roots(n: int, mean: float) -> None:
    # standard error of 1000 draws is below .06; 2 sqrt(n) would be 8.9, 14.1 and 20
    moments = significance(range(n), "lis", n_perm=1000)
    assert moments.null_mean == pytest.approx(mean, abs=0.2)
    assert not moments.exact


def test_simulated_inversions_have_the_moments_of_the_formula() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(1, 6, 50)
    counts = count_inversions(rng.permuted(np.tile(x, (4000, 1)), axis=1))
    moments = significance(x, n_perm=1)
    # standard errors: sd / 63 for the mean, about sd / 89 for the sd
    assert counts.mean() == pytest.approx(moments.null_mean, abs=4 * moments.null_sd / 63)
    assert counts.std() == pytest.approx(moments.null_sd, abs=4 * moments.null_sd / 89)


def test_the_bias_of_short_entropies_is_in_the_null() -> None:
    for n, bias in ((8, -0.411), (20, -0.109), (50, -0.037)):
        assert significance(range(n), "pen", n_perm=2000).null_mean - math.log(6) == pytest.approx(
            bias, abs=0.02
        )


@each_row(
    ("x", "metric", "message"),
    [
        ([1, 2], "pen", "too few for m=3"),
        ([1, 2], "tau", "unknown metric 'tau'"),
        ([1, math.nan], "cin", "NaN"),
    ],
)
def test_errors_say_what_to_do(x: Any, metric: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        significance(x, metric)

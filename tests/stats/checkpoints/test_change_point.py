"""Pettitt's test: equal to its definition and to all orders, and rarely wrong."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from rows import each_row
from scipy.stats import rankdata

from hengwen.stats.checkpoints import pettitt_test


def by_definition(values: np.ndarray) -> np.ndarray:
    """Return the sums of signs between the values up to each position and those after it."""
    n = len(values)
    return np.array([np.sign(values[t:, None] - values[None, :t]).sum() for t in range(1, n)])


@each_row("ties", [False, True])
def test_the_statistic_is_the_largest_sum_of_signs(ties: bool) -> None:
    values = np.random.default_rng(3).normal(size=12)
    values = values.round(0) if ties else values
    result = pettitt_test(values)
    sums = np.abs(by_definition(values))
    assert (result.statistic, result.index) == (sums.max(), int(sums.argmax()) + 1)


def test_the_p_value_of_eight_checkpoints_counts_all_orders() -> None:
    values = [3.0, 1.0, 2.0, 2.5, 6.0, 4.0, 8.0, 7.0]
    ranks = rankdata(values)
    orders = np.array(list(permutations(ranks)))
    sums = np.abs(2 * orders.cumsum(axis=1)[:, :-1] - np.arange(1, 8) * 9)
    statistic = np.abs(by_definition(np.array(values))).max()
    assert pettitt_test(values).p == pytest.approx((sums.max(axis=1) >= statistic).mean(), rel=1e-12)


def test_the_smallest_p_value_of_eight_checkpoints_is_two_of_seventy() -> None:
    assert pettitt_test([1, 1.1, 1.2, 1.3, 2, 2.1, 2.2, 2.3]).p == pytest.approx(2 / 70)


def test_a_step_in_many_checkpoints_is_dated() -> None:
    values = [*np.random.default_rng(0).normal(0, 1, 20), *np.random.default_rng(1).normal(3, 1, 20)]
    result = pettitt_test(values)
    assert abs(result.index - 20) <= 1
    assert result.p < 0.001
    assert result == pettitt_test(values)


@each_row("values", [[], [1, 2, 3, 4, 5, 6, 7], [0.5] * 10])
def test_seven_checkpoints_and_equal_values_have_no_test(values: list[float]) -> None:
    assert pettitt_test(values) is None


@pytest.mark.slow
def test_pettitt_is_significant_by_chance_in_at_most_six_of_a_hundred() -> None:
    rng = np.random.default_rng(7)
    p_values = [pettitt_test(rng.normal(size=8)).p for _ in range(20)]
    p_values += [pettitt_test(rng.normal(size=12)).p for _ in range(200)]
    assert np.mean(np.array(p_values) <= 0.05) <= 0.06 + 0.03

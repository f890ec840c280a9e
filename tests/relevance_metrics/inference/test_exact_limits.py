"""Numbers of orders up to which tests and moments are exact, with the documented defaults."""

from __future__ import annotations

import numpy as np
import pytest

from hengwen.relevance_metrics import null_moments, significance


@pytest.mark.parametrize(
    ("scores", "n_perm", "exact", "orders"),
    [
        pytest.param([1, 2, 3, 4], 24, True, 24, id="just as many as allowed"),
        pytest.param([1, 2, 3, 4], 23, False, 24, id="one more than allowed"),
        pytest.param([1, 1, 2, 2], 6, True, 6, id="ties are one order"),
        pytest.param([1, 1, 2, 2], 5, False, 6, id="ties, one more than allowed"),
    ],
)
def test_all_orders_are_taken_where_they_are_no_more_than_would_be_drawn(
    scores: list[int], n_perm: int, exact: bool, orders: int
) -> None:
    test = significance(scores, n_perm=n_perm)
    assert (test.exact, test.orders, test.p_floor) == (exact, orders, 1 / orders)


def test_by_default_seven_scores_are_tested_exactly_and_eight_by_9999_orders() -> None:
    seven, eight = significance(range(7)), significance(range(8))
    assert (seven.exact, seven.orders) == (True, 5040)
    assert (eight.exact, eight.orders, eight.n_perm) == (False, 10_000, 9999)


@pytest.mark.parametrize("metric", ["pen", "lis", "lnds"])
def test_by_default_six_scores_have_exact_moments_and_seven_those_of_2000_orders(metric: str) -> None:
    six, seven = null_moments(range(6), metric), null_moments(range(7), metric)
    assert (six.exact, six.orders) == (True, 720)
    assert (seven.exact, seven.orders) == (False, 2000)


@pytest.mark.parametrize(("draws", "exact"), [(24, True), (23, False)])
def test_moments_are_exact_where_there_are_no_more_orders_than_draws(draws: int, exact: bool) -> None:
    moments = null_moments([1, 2, 3, 4], "lis", draws=draws)
    assert (moments.exact, moments.orders) == (exact, draws)


@pytest.mark.parametrize("metric", ["pen", "lis", "lnds", "cin"])
def test_drawn_moments_are_near_the_exact_ones(metric: str) -> None:
    scores = [1, 2, 2, 3, 5, 4]
    exact, drawn = null_moments(scores, metric), null_moments(scores, metric, draws=300)
    assert drawn.mean == pytest.approx(exact.mean, abs=4 * exact.sd / np.sqrt(300))
    assert drawn.sd == pytest.approx(exact.sd, rel=0.25)

"""Numbers of orders up to which tests are exact, with the documented defaults."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row

from hengwen.relevance_metrics import significance


@each_row(
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
    assert (eight.exact, eight.orders) == (False, 10_000)


@each_row("metric", ["pen", "lis", "lnds"])
def test_drawn_moments_are_near_the_exact_ones(metric: str) -> None:
    scores = [1, 2, 2, 3, 5, 4]
    exact, drawn = significance(scores, metric), significance(scores, metric, n_perm=300)
    assert (exact.exact, drawn.exact) == (True, False)
    assert drawn.null_mean == pytest.approx(exact.null_mean, abs=4 * exact.null_sd / np.sqrt(300))
    assert drawn.null_sd == pytest.approx(exact.null_sd, rel=0.25)

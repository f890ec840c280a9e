"""The newest checkpoint against several by exchange: an enumeration as oracle, properties, and its size."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.stats.exchange import exchange_test
from hengwen.stats.paired import flip_p
from hengwen.stats.power import alpha_at_look

LEVELS = [0.0, 0.25, 0.5, 0.75, 1.0]
Rows = list[list[float]]


def names(count: int) -> list[str]:
    return [f"p{index}" for index in range(count)]


def enumerated(rows: Rows, *, plain: bool) -> float:
    """Exchange the newest value of every prompt with each other value, all combinations one by one."""
    changes = [
        [
            row[newest] - sum(v for k, v in enumerate(row) if k != newest) / (len(row) - 1)
            for newest in range(len(row))
        ]
        for row in rows
    ]

    def statistic(chosen: tuple[float, ...]) -> float:
        squares = sum(change * change for change in chosen)
        return abs(sum(chosen)) / (1.0 if plain or not squares else squares**0.5)

    observed = statistic(tuple(row[-1] for row in changes))
    all_draws = list(product(*changes))
    return sum(statistic(draw) >= observed - 1e-9 for draw in all_draws) / len(all_draws)


@pytest.mark.slow
@given(
    st.lists(st.lists(st.sampled_from(LEVELS), min_size=3, max_size=3), min_size=4, max_size=6), st.booleans()
)
@settings(max_examples=25, deadline=None)
def test_p_is_the_share_of_all_exchanges(rows: Rows, plain: bool) -> None:
    p = exchange_test(np.array(rows), names(len(rows)), plain=plain)
    assert p == pytest.approx(enumerated(rows, plain=plain), abs=0.02)


def test_prompts_of_a_cluster_are_exchanged_together() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(6, 4))
    doubled = np.repeat(rows, 3, axis=0)
    clusters = [name for name in names(6) for _ in range(3)]
    assert exchange_test(doubled, clusters) == exchange_test(rows, names(6))


def test_a_missing_value_is_not_exchanged_and_one_without_a_newest_value_does_not_count() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal([0, 0, 0, 2], size=(10, 4))
    rows[0, 1] = np.nan
    with_gap = np.concatenate((rows, [[0.1, 0.2, 0.3, np.nan]]))
    assert exchange_test(with_gap, names(11)) == exchange_test(rows, names(10)) < 0.02


def test_equal_values_differ_in_nothing() -> None:
    assert exchange_test(np.full((8, 3), 0.3), names(8)) == 1.0
    assert exchange_test(np.tile([0.1 + 0.2, 0.3, 0.3], (8, 1)), names(8)) == 1.0


def test_a_lower_level_draws_more() -> None:
    rows = np.random.default_rng(3).normal([0, 0, 0, 0, 5], size=(30, 5))
    assert exchange_test(rows, names(30)) == pytest.approx(1e-4)
    assert exchange_test(rows, names(30), alpha=1e-3) == pytest.approx(1 / 20001)


@pytest.mark.slow
def test_twenty_looks_at_a_ceiling_find_no_difference_where_flips_of_signs_find_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hengwen.stats.paired.RESAMPLES", 1999)
    exchanged, flipped = set(), set()
    for case, passes in enumerate((np.random.default_rng(7).random((15, 30, 21)) < 0.95).astype(float)):
        for look in range(1, 20):
            values, alpha = passes[:, : look + 2], alpha_at_look(look, 0.05)
            p = flip_p(values[:, -1] - values[:, :-1].mean(axis=1))
            if p <= alpha:
                flipped.add(case)
            if p <= 20 * alpha and exchange_test(values, names(30), alpha=alpha, plain=True) <= alpha:
                exchanged.add(case)
    assert not exchanged
    assert len(flipped) >= 8


@pytest.mark.slow
def test_equal_checkpoints_at_a_ceiling_differ_in_at_most_six_of_a_hundred(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One pass or fail minus a mean of many is not symmetric, so flips of its sign reject too often."""
    monkeypatch.setattr("hengwen.stats.exchange.MIN_DRAWS", 999)
    passes = (np.random.default_rng(7).random((300, 30, 20)) < 0.95).astype(float)
    exchanged = [exchange_test(values, names(30), plain=True) for values in passes]
    flipped = [flip_p(values[:, -1] - values[:, :-1].mean(axis=1)) for values in passes]
    assert np.mean(np.array(exchanged) <= 0.05) <= 0.06
    assert np.mean(np.array(flipped) <= 0.05) >= 0.1

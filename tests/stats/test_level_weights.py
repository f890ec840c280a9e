"""Weights with which a sample has the level mix of another one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hengwen.stats.mean_interval import level_index, level_weights

LEVELS = st.lists(st.integers(0, 4), min_size=1, max_size=60)


@pytest.mark.slow
@given(LEVELS, LEVELS)
def test_the_weighted_units_have_the_mix_of_the_target(units: list[int], target: list[int]) -> None:
    weights = level_weights(units, target)
    covered = [level for level in target if level in units]
    if weights is None:
        assert not covered
        return
    assert sum(weights) == pytest.approx(len(units))
    for level in set(covered):
        share = sum(weight for unit, weight in zip(units, weights, strict=True) if unit == level)
        assert share / len(units) == pytest.approx(covered.count(level) / len(covered))


def test_a_value_between_two_levels_takes_the_nearest() -> None:
    assert [level_index(value, 0, 1, (0, 0.5, 1)) for value in (0.1, 0.4, 0.8)] == [0, 1, 2]


def test_a_scale_without_levels_has_five_equal_parts() -> None:
    assert [level_index(value, 1, 11, None) for value in (1, 2.9, 3.1, 10.9, 11)] == [0, 0, 1, 4, 4]

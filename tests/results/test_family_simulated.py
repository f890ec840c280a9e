"""Tests of all pairs of equal checkpoints: how often a report is wrong."""

from __future__ import annotations

import pytest
from rows import each_row

from .family_simulations import KINDS, family_error, other_shape, partial_error, power

pytestmark = pytest.mark.slow


@each_row("kind", KINDS)
def test_a_report_of_equal_checkpoints_is_wrong_in_at_most_seven_of_a_hundred(kind: str) -> None:
    assert family_error(kind, 12, 4, 2, 200) <= 0.072 + 0.02  # Monte-Carlo error


def test_checkpoints_beside_a_worse_one_are_told_apart_no_more_often() -> None:
    assert partial_error(20, 4, 200) <= 0.072 + 0.02


def test_another_shape_with_an_equal_mean_is_rarely_a_verdict_on_levels() -> None:
    _, claimed = other_shape(60, 200)
    assert claimed <= 0.05


def test_a_fall_of_levels_is_seen_by_the_test_and_its_interval() -> None:
    tested, claimed = power("skew", 26, 4, 1, 1.0, 60)
    assert tested >= claimed >= 0.5

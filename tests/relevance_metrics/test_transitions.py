"""Transitions between ordinal patterns."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.relevance_metrics import (
    ordinal_transitions,
)


@given(st.lists(st.integers(1, 4), min_size=4, max_size=40))
@settings(deadline=None, max_examples=60)
def test_transitions_follow_the_windows(x: list[int]) -> None:
    result = ordinal_transitions(x)
    names = [tuple(np.argsort(x[t : t + 3], kind="stable").tolist()) for t in range(len(x) - 2)]
    steps = list(pairwise(names))
    for i, before in enumerate(result.patterns):
        for j, after in enumerate(result.patterns):
            assert result.counts[i][j] == steps.count((before, after))
    assert sum(map(sum, result.counts)) == len(steps)
    for shares in result.probabilities().values():
        assert sum(shares.values()) == pytest.approx(1)
    assert 0 <= result.conditional_entropy <= math.log(6)


def test_a_swing_is_settled_by_its_last_pattern() -> None:
    result = ordinal_transitions([5, 4] * 6)
    assert result.conditional_entropy == 0
    assert result.probabilities() == {(0, 2, 1): {(1, 0, 2): 1.0}, (1, 0, 2): {(0, 2, 1): 1.0}}


def test_a_dropped_window_breaks_the_chain() -> None:
    # windows of two: rise, tie, fall, fall
    assert ordinal_transitions([1, 2, 2, 1, 0], 2, ties="drop").counts == ((0, 0), (0, 1))
    assert ordinal_transitions([3, 2, 1, math.nan, 5, 4, 1], 2, nan="omit-window").counts == ((2,),)
    with pytest.raises(ValueError, match="no two consecutive windows"):
        ordinal_transitions([1, 2, 3])

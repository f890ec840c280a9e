"""The Jensen-Shannon distance of ordinal patterns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.relevance_metrics import (
    pattern_counts,
    pattern_js_distance,
)

Y = [(i * i * 7919) % 101 for i in range(40)]


Z = [(i * i * i * 31 + i) % 89 for i in range(40)]


@each_row(
    ("options", "expected"),
    [
        ({"m": 3, "base": "e"}, 0.07649520531373932),
        ({"m": 4, "base": 2}, 0.4238502991894922),
    ],
)
def test_js_distance_is_that_of_ordpy(options: dict[str, Any], expected: float) -> None:
    # ordpy 1.2.3, permutation_js_distance, not normalized
    assert pattern_js_distance(Y, Z, **options) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@given(
    a=st.lists(st.integers(1, 5), min_size=3, max_size=30),
    b=st.lists(st.integers(1, 5), min_size=3, max_size=30),
)
@settings(deadline=None, max_examples=60)
def test_js_distance_is_that_of_scipy(a: list[int], b: list[int]) -> None:
    from scipy.spatial.distance import jensenshannon

    first, second = pattern_counts(a), pattern_counts(b)
    kinds = sorted({*first, *second})
    shares = [[counts.get(kind, 0) for kind in kinds] for counts in (first, second)]
    result = pattern_js_distance(a, b)
    assert result == pytest.approx(np.nan_to_num(jensenshannon(*shares, base=2)), abs=1e-7)
    assert 0 <= result <= 1
    assert result == pytest.approx(pattern_js_distance(b, a), abs=1e-12)
    assert pattern_js_distance(a, a) == 0

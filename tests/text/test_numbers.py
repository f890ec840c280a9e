"""Numbers as they are printed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.records import Scale
from hengwen.text.numbers import (
    count,
    decimals_for,
    interval,
    number,
    percent,
    scale_text,
    signed_difference,
)


@each_row(
    ("scale", "values", "expected"),
    [
        pytest.param(Scale(low=0, high=100), [], 1, id="hundred"),
        pytest.param(Scale(low=0, high=1), [], 2, id="unit"),
        pytest.param(Scale(low=1, high=5), [], 2, id="one-to-five"),
        pytest.param(Scale(low=0, high=10000), [], 0, id="thousands"),
        pytest.param(None, [], 3, id="nothing-known"),
        pytest.param(None, [None, 0.25], 2, id="shares"),
        pytest.param(None, [0.04], 3, id="small-values"),
        pytest.param(None, [0.25, -140.0], 1, id="largest-decides"),
        pytest.param(None, [1200.0], 0, id="large-values"),
    ],
)
def test_decimals_follow_the_scale_then_the_values(scale, values, expected):
    assert decimals_for(scale, values) == expected


@each_row(
    ("value", "decimals", "expected"),
    [
        pytest.param(83.868, 1, "83.9", id="rounded"),
        pytest.param(-0.001, 2, "0.00", id="no-negative-zero"),
        pytest.param(-0.0, 1, "0.0", id="minus-zero"),
        pytest.param(-0.006, 2, "-0.01", id="negative"),
        pytest.param(100.0, 0, "100", id="no-decimals"),
        pytest.param(None, 2, "–", id="nothing"),
    ],
)
def test_numbers_have_fixed_decimals(value, decimals, expected):
    assert number(value, decimals) == expected


@given(st.floats(-1e6, 1e6), st.integers(0, 4))
@settings(deadline=None, max_examples=100)
def test_a_printed_zero_has_no_sign(value, decimals):
    text = number(value, decimals)
    assert abs(float(text) - value) <= 0.5 * 10**-decimals * (1 + 1e-6)
    assert not (text.startswith("-") and float(text) == 0)


@each_row(
    ("share", "expected"),
    [
        pytest.param(1.0, "100%", id="all"),
        pytest.param(0.99999, "99.9%", id="nearly-all-is-not-all"),
        pytest.param(0.95, "95%", id="whole"),
        pytest.param(0.933333, "93.3%", id="tenths"),
        pytest.param(0.29, "29%", id="binary-fraction-below"),
        pytest.param(0.0, "0%", id="none"),
        pytest.param(None, "–", id="nothing-applies"),
    ],
)
def test_only_complete_coverage_prints_as_100(share, expected):
    assert percent(share) == expected


def test_intervals_keep_both_ends_and_signs():
    assert interval((-0.04, 1.26), 1) == "[0.0, 1.3]"
    assert interval((-1.0, 0.25), 2) == "[-1.00, 0.25]"
    assert interval(None) == "–"


def test_a_change_has_a_sign_unless_it_is_zero():
    assert [signed_difference(a, b, 1) for a, b in [(1, 2), (2, 1), (1, 1.04), (1, 0.96)]] == [
        "+1.0",
        "-1.0",
        "0.0",
        "0.0",
    ]
    assert signed_difference(None, 1.0) == "–"


def test_counts_and_scales_are_short():
    assert (count(0), count(1234)) == ("0", "1,234")
    assert scale_text(Scale(low=0.5, high=5)) == "0.5–5"

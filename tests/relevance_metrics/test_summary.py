from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from rows import each_row
from scipy.stats import kendalltau

from hengwen.relevance_metrics import significance, summarize


def test_the_level_stands_beside_the_order() -> None:
    summary = summarize([5, 4, 5, 4, 5, 4, 5, 4])
    assert (summary.mean, summary.median, summary.top, summary.top_share) == (4.5, 4.5, 5.0, 0.5)
    assert summary.pen is not None
    assert (summary.pen.value, summary.cin.value, summary.lis.value, summary.lnds.value) == (
        0.6931471805599453,
        10,
        2,
        4,
    )
    assert summary.pen_share == pytest.approx(0.3868528072345416)
    assert summary.tau_b == pytest.approx(kendalltau(range(8), [5, 4] * 4).statistic)
    assert (summary.pairs, summary.windows, summary.levels) == (28, 6, 2)
    assert summary.warnings == ("short", "ties")


def test_a_uniform_fall_shows_in_the_level_only() -> None:
    x = np.array([5, 4, 5, 3, 5, 4, 4, 5, 3])
    high, low = summarize(x), summarize(x - 2)
    assert (high.pen, high.cin, high.lis) == (low.pen, low.cin, low.lis)
    assert high.mean - low.mean == pytest.approx(2)


def test_readings_are_those_of_the_tests() -> None:
    x = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
    summary = summarize(x, n_perm=200, seed=3)
    for metric, reading in (
        ("cin", summary.cin),
        ("pen", summary.pen),
        ("lis", summary.lis),
        ("lnds", summary.lnds),
    ):
        test = significance(x, metric, n_perm=200, seed=3)
        assert reading is not None
        assert (reading.p, reading.z, reading.orders) == (test.p, test.z, test.orders)


@pytest.mark.slow
@each_row(
    ("x", "expected"),
    [
        pytest.param([(i * i * 7919) % 101 for i in range(2500)], 0.897120952452271, id="long"),
        pytest.param([(i * i * 7919) % 101 - i // 900 for i in range(2500)], None, id="falls"),
    ],
)
def test_long_sequences_have_the_mann_kendall_p(x: list[int], expected: float | None) -> None:
    # pymannkendall 1.4.3, original_test; and scipy's normal approximation, which has no continuity correction
    summary = summarize(x)
    assert summary.cin.orders == 0
    if expected is not None:
        assert summary.cin.p == pytest.approx(expected, abs=1e-12)
    p = kendalltau(range(len(x)), x, method="asymptotic").pvalue
    assert summary.cin.p == pytest.approx(p, rel=1e-3)


def test_very_long_sequences_are_not_shuffled() -> None:
    x = np.random.default_rng(0).integers(1, 6, 50_000)
    summary = summarize(x)
    assert (summary.lis.p, summary.pen.p if summary.pen else 0, summary.lis.value) == (None, None, 5)
    assert summary.cin.p is not None
    assert "untested" in summary.warnings
    assert "only the inversions are tested" in summary.explain()


@each_row(
    ("x", "warnings"),
    [
        pytest.param([4], ("too_short", "constant"), id="one"),
        pytest.param([4, 4], ("too_short", "constant"), id="two"),
        pytest.param([4] * 40, ("constant",), id="constant"),
        pytest.param(range(20), ("short",), id="short"),
        pytest.param(range(32), (), id="long enough"),
        pytest.param([1, 2] * 20, ("ties",), id="two levels"),
    ],
)
def test_warnings(x: Any, warnings: tuple[str, ...]) -> None:
    summary = summarize(x, n_perm=20)
    assert summary.warnings == warnings
    for language in ("en", "zh"):
        text = summary.explain(language)
        assert "nan" not in text.lower().replace("奈", "")
        assert len(text.splitlines()) == 5 + len(warnings)


def test_the_explanation_tells_a_fall_from_a_rise() -> None:
    falls, rises = summarize(range(30, 0, -1), n_perm=99), summarize(range(30), n_perm=99)
    assert "Later scores tend to be lower" in falls.explain()
    assert "后面的分数往往更低" in falls.explain("zh")
    assert "Later scores tend to be higher" in rises.explain()
    assert "The longest rise is longer than chance gives" in rises.explain()
    assert "more regular than chance" in rises.explain("en")


def test_the_explanation_says_what_the_numbers_do_not_mean() -> None:
    summary = summarize([4, 5, 3, 4, 5], n_perm=20)
    assert "they do not say how good the scores are" in summary.explain()
    assert "它们都不变" in summary.explain("zh")
    assert "3 patterns are few for m=3" in summary.explain()
    assert "4 scores are too few for m=5" in summarize([1, 2, 4, 3], m=5).explain()
    assert "Level: 1 score, mean 2" in summarize([2]).explain()
    with pytest.raises(ValueError, match="unknown language 'de'; known: 'en', 'zh'"):
        summary.explain("de")


def test_a_summary_goes_through_json() -> None:
    summary = asdict(summarize([1.5, 2, 1, 3], n_perm=20))
    assert json.loads(json.dumps(summary, allow_nan=False))["metrics"]["cin"]["value"] == 2


@each_row(
    ("x", "options", "message"),
    [
        ([], {}, "no scores to summarize"),
        ([1, math.nan], {}, "NaN"),
        ([1, math.inf], {}, "finite"),
        ([1, 2], {"m": 1}, "m must be"),
        ([1, 2], {"n_perm": 0}, "n_perm must be"),
    ],
)
def test_errors_say_what_to_do(x: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        summarize(x, **options)

"""Paired tests of a report: which pairs are tested, the family, and how often a report is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from prompt_series import prompt_series
from quick_tests import quick_tests
from rows import each_row
from score_rows import score_of

from hengwen.records import Scale
from hengwen.results.comparability import ComparabilityKey
from hengwen.results.comparisons import CHANGES, compare_checkpoints, family_size
from hengwen.results.score_series import ScoreSeries, score_series
from hengwen.results.score_table import Column, ScoreTable, SeriesKey
from hengwen.stats.mean_interval import mean_interval


def test_every_pair_is_compared_in_every_score() -> None:
    series = [prompt_series(*[[0.5] * 20] * 3), prompt_series(*[[0.5] * 20] * 2, address="t/u")]
    pairs = [(c.address, c.earlier, c.later) for c in compare_checkpoints(series)]
    assert pairs == [("t/s", 0, 1), ("t/s", 0, 2), ("t/s", 1, 2), ("t/u", 0, 1)]


def test_of_many_checkpoints_each_is_compared_with_the_best_before_and_the_last_with_all() -> None:
    levels = [0.5, 0.4, 0.7, 0.6, *[0.5] * 37]
    many = prompt_series(*[[level] * 8 for level in levels])
    expected = [(0, 1), (0, 2), *[(2, k) for k in range(3, 40)], *[(k, 40) for k in range(40)]]
    assert sorted((c.earlier, c.later) for c in compare_checkpoints([many])) == sorted(expected)
    errors = Scale(low=0, high=1, higher_is_better=False)
    lower = prompt_series(*[[1 - level] * 8 for level in levels], scale=errors)
    assert lower.pairs == many.pairs


LEVELS = Scale(low=0, high=1, levels=(0, 0.25, 0.5, 0.75, 1))


def test_the_interval_of_a_pair_reaches_as_far_as_the_scale_or_the_largest_difference() -> None:
    before, after = [0.2, 0.4, 0.3, 0.5, 0.1, 0.6, 0.2, 0.3], [0.3, 0.6, 0.3, 0.6, 0.5, 0.8, 0.1, 0.6]
    differences = [b - a for a, b in zip(before, after, strict=True)]
    (alone,) = compare_checkpoints([prompt_series(before, after)])
    expected = mean_interval(differences, ends=(-0.4, 0.4), continuous=True)
    assert alone.interval == pytest.approx(expected.bounds)
    far = [value + 0.45 for value in before]
    with_company = compare_checkpoints([prompt_series(before, after, far, scale=Scale(low=0, high=2))])[0]
    reached = mean_interval(differences, scale=(-2, 2), ends=(-0.55, 0.55), continuous=True).bounds
    assert with_company.interval == pytest.approx(reached)
    levels = prompt_series([0.25] * 8, [0.5] * 8, scale=LEVELS)
    (stepped,) = compare_checkpoints([levels])
    assert stepped.interval == pytest.approx(mean_interval([0.25] * 8, scale=(-1, 1)).bounds)
    many = prompt_series(before * 3, after * 3, clusters=[f"c{i // 2}" for i in range(24)])
    (clustered,) = compare_checkpoints([many])
    names = [f"c{i // 2}" for i in range(24)]
    expected = mean_interval(differences * 3, names, ends=(-0.4, 0.4), continuous=True)
    assert clustered.interval == pytest.approx(expected.bounds)


def test_where_the_interval_of_the_pair_holds_0_the_mean_is_undecided() -> None:
    series = prompt_series([0.75] * 12, [1.0] * 7 + [0.75] * 5, scale=LEVELS)
    (comparison,) = compare_checkpoints([series])
    assert comparison.p_adjusted == pytest.approx(2 / 2**7)
    assert comparison.interval[0] < 0 < comparison.interval[1]
    assert comparison.verdict == "mean undecided"


SCALES = (None, Scale(low=0, high=1), Scale(low=0, high=1, higher_is_better=False), LEVELS)


@st.composite
def reports(draw: st.DrawFn) -> list[ScoreSeries]:
    """Return up to three scores at the same checkpoints; some fall, some prompts are equal or missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    checkpoints, prompts = draw(st.integers(2, 5)), draw(st.sampled_from([6, 7, 12, 20]))
    series = []
    for index, scale in enumerate(draw(st.lists(st.sampled_from(SCALES), min_size=1, max_size=3))):
        own = rng.normal(0.5, 0.2, (prompts, 1))
        shifts = draw(st.sampled_from([0.0, 0.2, 0.5])) * rng.normal(0, 1, checkpoints)
        noise = draw(st.sampled_from([0.0, 0.02, 0.3])) * rng.normal(0, 1, (prompts, checkpoints))
        values = np.clip(own + shifts + noise, 0, 1)
        if scale is LEVELS:
            values = np.round(values * 4) / 4
        if draw(st.booleans()):
            values = values.round(1)
        names = [f"c{row // 2}" for row in range(prompts)] if draw(st.booleans()) else []
        rows = values.T.tolist()
        if draw(st.booleans()):
            rows = [[value if rng.random() > 0.04 else None for value in row] for row in rows]
        series.append(prompt_series(*rows, scale=scale, clusters=names, address=f"t/{index}"))
    return series


@pytest.mark.slow
@settings(max_examples=60)
@given(reports())
def test_the_family_interval_excludes_0_exactly_where_something_is_claimed(series: list[ScoreSeries]) -> None:
    for item in compare_checkpoints(series):
        is_claimed = item.verdict in ("better", "worse")
        event(item.verdict)
        low, high = item.family_interval or (-np.inf, np.inf)
        assert (low > 0 or high < 0) == is_claimed
        if item.interval is not None:
            assert low <= item.interval[0] <= item.interval[1] <= high
            assert not is_claimed or item.interval[0] > 0 or item.interval[1] < 0


def test_equal_differences_of_few_prompts_in_a_large_family_claim_nothing() -> None:
    tasks = [
        prompt_series([0.2] * 6, [0.4] * 6, scale=Scale(low=0, high=1), address=f"{task}/s") for task in "tuv"
    ]
    first = compare_checkpoints(tasks)[0]
    assert (first.verdict, first.interval[0] > 0) == ("too few", True)
    assert first.family_interval[0] == 0


def test_lower_is_better_turns_the_verdict() -> None:
    values = [5.0] * 12, [2.0, 3.0] * 6
    verdicts = [
        compare_checkpoints([prompt_series(*values, scale=Scale(low=0, high=10, higher_is_better=higher))])[0]
        for higher in (True, False)
    ]
    assert [item.verdict for item in verdicts] == ["worse", "better"]


def test_two_checkpoints_are_one_comparison_and_one_is_none() -> None:
    assert len(compare_checkpoints([prompt_series([0.5] * 20, [0.5] * 20)])) == 1
    assert compare_checkpoints([prompt_series([0.5] * 20)]) == []


def test_all_scores_of_a_report_are_one_family() -> None:
    falling = prompt_series([1.0] * 10, [0.6 + 0.05 * i for i in range(10)])
    (alone,) = compare_checkpoints([falling])
    assert (alone.p_adjusted, alone.test.p) == pytest.approx((12 / 1024, 12 / 1024))
    rng = np.random.default_rng(9)
    others = [prompt_series(*rng.normal(size=(2, 10)).tolist(), address=f"u{i}/s") for i in range(9)]
    among_others = compare_checkpoints([falling, *others])
    assert among_others[0].p_adjusted > 2 * alone.p_adjusted
    assert among_others[0].test.p == pytest.approx(alone.p_adjusted, abs=0.002)
    assert family_size(among_others) == 10


def test_a_prompt_with_more_repeats_at_one_checkpoint_counts_with_equally_many() -> None:
    def column(repeats: int, values: list[float]) -> Column:
        names = [f"p{i}" for i in range(12) for _ in range(repeats)]
        numbers = list(range(1, repeats + 1)) * 12
        return Column.of(values, sample_ids=names, repeats=numbers, signatures={"s"})

    table = ScoreTable()
    table.series[SeriesKey("a", score_of("s"), "scorer")] = column(1, [0.5] * 12)
    table.series[SeriesKey("b", score_of("s"), "scorer")] = column(2, [0.75, 0.0] * 12)
    item = score_series(table, ["a", "b"], score_of("s"), "scorer")
    assert item is not None
    assert item.values[:, 1].tolist() == [0.375] * 12
    (comparison,) = compare_checkpoints([item])
    assert (comparison.test.difference, comparison.verdict) == (0.25, "better")


def test_only_common_prompts_count() -> None:
    series = prompt_series([1.0] * 12, [0.5] * 10)
    (comparison,) = compare_checkpoints([series])
    assert comparison.test.prompts == 10


@each_row(
    "changes",
    [
        pytest.param({"shares": (1.0, 0.94)}, id="too few prompts covered"),
        pytest.param({"signatures": ("s|v:1", "s|v:2")}, id="another way of scoring"),
        pytest.param(
            {"keys": (ComparabilityKey({"references": "1f"}), ComparabilityKey({"references": "2e"}))},
            id="edited references",
        ),
    ],
)
def test_what_cannot_be_compared_is_left_out(changes: dict[str, object]) -> None:
    assert compare_checkpoints([prompt_series([1.0] * 20, [0.0] * 20, **changes)]) == []


def test_five_clusters_are_too_few_and_do_not_cost_the_others_power() -> None:
    small = [prompt_series([1.0] * 5, [0.0] * 5, address=f"t/{i}") for i in range(30)]
    names = [f"c{i % 5}" for i in range(20)]
    clustered = prompt_series([1.0] * 20, [0.0] * 20, address="t/c", clusters=names)
    comparisons = compare_checkpoints([*small, clustered, prompt_series([1.0] * 6, [0.0] * 6)])
    assert comparisons[-1].p_adjusted == pytest.approx(2 / 64)
    assert {item.verdict for item in comparisons[:-1]} == {"too few"}
    assert comparisons[0].test.p == pytest.approx(2 / 32)
    assert family_size(comparisons) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "shares", [[0.05, 0.1, 0.2, 0.35, 0.3], [0.025] * 4 + [0.9]], ids=["skew", "ceiling"]
)
def test_a_report_without_drift_names_a_fall_in_at_most_one_of_twenty(shares: list[float]) -> None:
    """Four scores, six checkpoints, 30 prompts with three repeats; nothing differs."""
    rng = np.random.default_rng(14)
    levels = np.array([0, 0.25, 0.5, 0.75, 1])
    reports = 200
    wrong = 0
    for _ in range(reports):
        answers = rng.choice(levels, (4, 6, 30, 3), p=shares).mean(axis=3)
        series = [prompt_series(*score.tolist(), address=f"t/{i}") for i, score in enumerate(answers)]
        with quick_tests():
            comparisons = compare_checkpoints(series)
        wrong += any(item.verdict in CHANGES for item in comparisons)
    assert wrong / reports <= 0.1  # .072 and two standard errors of 200 reports

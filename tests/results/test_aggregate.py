"""Means, coverage and intervals: by hand, against scipy, and against simulation."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hengwen.records import Failure, Outcome, Reducer, Row, Scale, Score
from hengwen.results.aggregate import Summary, aggregate, reduce_repeats
from hengwen.results.score_table import ScoreTable
from hengwen.stats.intervals import cluster_interval


def row(sample: str | None, repeat: int | None, outcome: Outcome, cluster: str | None = None) -> Row:
    return Row(
        run_id="r",
        task="t",
        checkpoint="c",
        sample_id=sample,
        repeat=repeat,
        cluster=cluster or sample or "t",
        outcome=outcome,
    )


def score(value: float, signature: str = "s|v:1") -> Score:
    return Score(name="s.total", value=value, signature=signature)


def failure(status: str) -> Failure:
    return Failure(name="s.total", status=status, message="why", signature="s|v:1")  # type: ignore[arg-type]


def summarize(*rows: Row) -> Summary:
    (summary,) = aggregate(ScoreTable(rows)).values()
    return summary


def test_prompts_weigh_equally_whatever_their_repeats() -> None:
    found = summarize(
        row("a", 1, score(0)), row("a", 2, score(0)), row("a", 3, score(0)), row("b", 1, score(1))
    )
    assert (found.mean, found.n, found.prompts) == (0.5, 4, 2)


def test_failures_enter_no_mean_and_are_counted_by_status() -> None:
    found = summarize(
        row("a", 1, score(1)),
        row("b", 1, failure("parse_error")),
        row("c", 1, failure("timeout")),
        row("d", 1, failure("not_applicable")),
    )
    assert found.mean == 1
    assert found.failures == {"parse_error": 1, "timeout": 1}
    assert found.not_applicable == 1
    assert found.coverage == pytest.approx(1 / 3)


def test_where_all_failed_there_is_no_mean_and_coverage_is_zero() -> None:
    found = summarize(row("a", 1, failure("timeout")))
    assert (found.mean, found.ci, found.coverage, found.method) == (None, None, 0.0, "none")


def test_where_nothing_applies_there_is_no_coverage() -> None:
    assert summarize(row("a", 1, failure("not_applicable"))).coverage is None


def test_a_value_of_a_whole_set_has_no_interval() -> None:
    found = summarize(row(None, None, score(0.7)))
    assert (found.mean, found.ci, found.n, found.prompts) == (0.7, None, 1, 0)


def test_the_interval_ends_where_the_scale_ends() -> None:
    scale = Scale(low=0, high=1)
    rows = [
        row(name, 1, Score(name="s", value=value, signature="s", scale=scale))
        for name, value in zip("abc", (1, 1, 0.4), strict=True)
    ]
    low, high = summarize(*rows).ci or (0, 0)
    assert low < 0.8 < high == 1


def test_a_value_of_a_whole_set_keeps_the_interval_that_its_scorer_gave() -> None:
    given = Score(name="s.corpus", value=40, signature="s", details={"ci": [35.0, 45.0], "n": 9})
    found = summarize(row(None, None, given))
    assert (found.mean, found.ci, found.method, found.n) == (40, (35.0, 45.0), "scorer", 1)


def test_signatures_that_differ_are_both_named() -> None:
    assert summarize(row("a", 1, score(1, "x")), row("b", 1, score(1, "y"))).signatures == ("x", "y")


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=29), st.sampled_from([0.8, 0.95, 0.99]))
@settings(deadline=None, max_examples=50)
def test_below_thirty_prompts_the_interval_is_the_textbook_t(values: list[float], level: float) -> None:
    names = [str(i) for i in range(len(values))]
    low, high = cluster_interval(values, names, level=level)  # type: ignore[misc]
    error = stats.sem(values)
    expected = stats.t.interval(level, len(values) - 1, loc=np.mean(values), scale=error) if error else None
    if expected is None:
        assert low == pytest.approx(high)
    else:
        assert (low, high) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_from_thirty_prompts_on_it_is_the_bootstrap_by_prompt_and_repeats_itself() -> None:
    values = list(np.random.default_rng(1).normal(size=200))
    names = [str(i) for i in range(200)]
    found = cluster_interval(values, names, seed=3)
    assert found == cluster_interval(values, names, seed=3)
    expected = stats.t.interval(0.95, 199, loc=np.mean(values), scale=stats.sem(values))
    assert found == pytest.approx(expected, abs=0.02)


def test_the_bootstrap_follows_a_skew_that_t_cannot_see() -> None:
    values = list(np.random.default_rng(1).exponential(size=40))
    low, high = cluster_interval(values, [str(i) for i in range(40)])  # type: ignore[misc]
    assert high - np.mean(values) > 1.1 * (np.mean(values) - low)


def test_copies_of_a_prompt_in_one_cluster_do_not_narrow_the_interval() -> None:
    values, names = [1.0, 2.0, 4.0], ["a", "b", "c"]
    once = cluster_interval(values, names)
    copied = cluster_interval(values * 5, names * 5)
    assert copied == pytest.approx(once)


def test_a_constant_score_has_an_interval_of_no_width_however_many_prompts() -> None:
    for count in (5, 50):
        assert cluster_interval([0.1] * count, [str(i) for i in range(count)]) == pytest.approx((0.1, 0.1))


@pytest.mark.parametrize(
    ("values", "clusters", "level", "said"),
    [([1.0], [], 0.95, "1 values but 0 clusters"), ([1.0], ["a"], 1.0, "level")],
)
def test_wrong_arguments_are_refused(
    values: list[float], clusters: list[str], level: float, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        cluster_interval(values, clusters, level=level)


@pytest.mark.parametrize("prompts", [10, 40], ids=["t", "bootstrap"])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(prompts: int) -> None:
    rng = np.random.default_rng(7)
    trials, names = 400, [str(i) for i in range(prompts)]
    hits = 0
    for _ in range(trials if prompts < 30 else 100):
        ability = rng.normal(size=prompts)
        low, high = cluster_interval(list(ability), names)  # type: ignore[misc]
        hits += low <= 0 <= high
    share = hits / (trials if prompts < 30 else 100)
    assert 0.88 <= share <= 0.99


@pytest.mark.parametrize(
    ("reducer", "up", "down"),
    [("mean", 0.4, 0.4), ("median", 0.5, 0.5), ("mode", 0.5, 0.5), ("worst", 0.0, 0.75), ("best", 0.75, 0.0)],
)
def test_a_plan_may_want_another_value_of_repeats_than_their_mean(
    reducer: str, up: float, down: float
) -> None:
    values = [0.5, 0.0, 0.75, 0.5, 0.25]
    for higher_is_better, wanted in ((True, up), (False, down)):
        scale = Scale(low=0, high=1, higher_is_better=higher_is_better)
        made = [Score(name="s.total", value=value, signature="s|v:1", scale=scale) for value in values]
        table = ScoreTable([row("a", number, one) for number, one in enumerate(made, start=1)])
        table.reduce("r", "t", reducer)  # type: ignore[arg-type]
        (found,) = aggregate(table).values()
        assert found.mean == pytest.approx(wanted)
        said = "" if reducer == "mean" else f"|repeats:{reducer}"
        assert found.signatures == (f"s|v:1{said}",)


def test_the_value_of_a_whole_set_has_no_repeats_to_reduce() -> None:
    table = ScoreTable([row(None, None, score(3))])
    table.reduce("r", "t", "worst")
    (found,) = aggregate(table).values()
    assert found.signatures == ("s|v:1",)


def test_the_value_of_a_whole_set_may_say_what_it_is_made_of() -> None:
    details = {"answers": 6, "prompts": 2, "ci": [2, 4]}
    found = summarize(row(None, None, Score(name="s.total", value=3, signature="s|v:1", details=details)))
    assert (found.mean, found.n, found.prompts, found.ci, found.coverage) == (3, 6, 2, (2, 4), 1)


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=9))
def test_every_reducer_stays_between_worst_and_best(values: list[float]) -> None:
    found = {how: reduce_repeats(values, how) for how in get_args(Reducer)}
    assert all(found["worst"] <= value <= found["best"] for value in found.values())
    assert found["mode"] in values
    assert set(found.values()) == {values[0]} or len(set(values)) > 1

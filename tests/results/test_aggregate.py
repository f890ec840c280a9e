"""Means, coverage, failures and reducers of series, by hand."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hengwen.records import Failure, Outcome, Reducer, Row, Scale, Score
from hengwen.results.aggregate import Summary, aggregate, reduce_repeats
from hengwen.results.score_table import ScoreTable


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
    return Failure(name="s.total", status=status, message="why", signature="s|v:1")


def summarize(*rows: Row) -> Summary:
    (summary,) = aggregate(ScoreTable(rows)).values()
    return summary


def test_prompts_weigh_equally_whatever_their_repeats() -> None:
    summary = summarize(
        row("a", 1, score(0)), row("a", 2, score(0)), row("a", 3, score(0)), row("b", 1, score(1))
    )
    assert (summary.mean, summary.n, summary.prompts) == (0.5, 4, 2)


def test_failures_enter_no_mean_and_are_counted_by_status() -> None:
    summary = summarize(
        row("a", 1, score(1)),
        row("b", 1, failure("parse_error")),
        row("c", 1, failure("timeout")),
        row("d", 1, failure("not_applicable")),
    )
    assert summary.mean == 1
    assert summary.failures == {"parse_error": 1, "timeout": 1}
    assert summary.not_applicable == 1
    assert summary.coverage == pytest.approx(1 / 3)


def test_where_all_failed_there_is_no_mean_and_coverage_is_zero() -> None:
    summary = summarize(row("a", 1, failure("timeout")))
    assert (summary.mean, summary.interval, summary.coverage, summary.method) == (None, None, 0.0, "none")


def test_where_nothing_applies_there_is_no_coverage() -> None:
    assert summarize(row("a", 1, failure("not_applicable"))).coverage is None


def test_a_value_of_a_whole_set_has_no_interval() -> None:
    summary = summarize(row(None, None, score(0.7)))
    assert (summary.mean, summary.interval, summary.n, summary.prompts) == (0.7, None, 1, 0)


def test_the_interval_ends_where_the_scale_ends() -> None:
    scale = Scale(low=0, high=1)
    rows = [
        row(name, 1, Score(name="s", value=value, signature="s", scale=scale))
        for name, value in zip("abc", (1, 1, 0.4), strict=True)
    ]
    low, high = summarize(*rows).interval or (0, 0)
    assert low < 0.8 < high == 1


def test_a_value_of_a_whole_set_keeps_the_interval_that_its_scorer_gave() -> None:
    corpus = Score(name="s.corpus", value=40, signature="s", details={"ci": [35.0, 45.0], "n": 9})
    summary = summarize(row(None, None, corpus))
    assert (summary.mean, summary.interval, summary.method, summary.n) == (40, (35.0, 45.0), "scorer", 1)


def test_signatures_that_differ_are_both_named() -> None:
    assert summarize(row("a", 1, score(1, "x")), row("b", 1, score(1, "y"))).signatures == ("x", "y")


@pytest.mark.parametrize(
    ("reducer", "up", "down"),
    [("mean", 0.4, 0.4), ("median", 0.5, 0.5), ("mode", 0.5, 0.5), ("worst", 0.0, 0.75), ("best", 0.75, 0.0)],
)
def test_a_plan_may_want_another_value_of_repeats_than_their_mean(
    reducer: str, up: float, down: float
) -> None:
    values = [0.5, 0.0, 0.75, 0.5, 0.25]
    for higher_is_better, expected in ((True, up), (False, down)):
        scale = Scale(low=0, high=1, higher_is_better=higher_is_better)
        scores = [Score(name="s.total", value=value, signature="s|v:1", scale=scale) for value in values]
        table = ScoreTable([row("a", number, item) for number, item in enumerate(scores, start=1)])
        table.reduce("r", "t", reducer)
        (summary,) = aggregate(table).values()
        assert summary.mean == pytest.approx(expected)
        suffix = "" if reducer == "mean" else f"|repeats:{reducer}"
        assert summary.signatures == (f"s|v:1{suffix}",)


def test_the_value_of_a_whole_set_has_no_repeats_to_reduce() -> None:
    table = ScoreTable([row(None, None, score(3))])
    table.reduce("r", "t", "worst")
    (summary,) = aggregate(table).values()
    assert summary.signatures == ("s|v:1",)


def test_the_value_of_a_whole_set_may_say_what_it_is_composed_of() -> None:
    details = {"answers": 6, "prompts": 2, "ci": [2, 4]}
    summary = summarize(row(None, None, Score(name="s.total", value=3, signature="s|v:1", details=details)))
    assert (summary.mean, summary.n, summary.prompts, summary.interval, summary.coverage) == (
        3,
        6,
        2,
        (2, 4),
        1,
    )


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=9))
def test_every_reducer_stays_between_worst_and_best(values: list[float]) -> None:
    reduced = {reducer: reduce_repeats(values, reducer) for reducer in get_args(Reducer)}
    assert all(reduced["worst"] <= value <= reduced["best"] for value in reduced.values())
    assert reduced["mode"] in values
    assert set(reduced.values()) == {values[0]} or len(set(values)) > 1

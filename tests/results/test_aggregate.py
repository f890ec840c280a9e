"""Means, coverage, failures and reducers of series, by hand."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import each_row
from score_rows import row_of

from hengwen.records import Failure, Kind, Outcome, Reducer, Row, Scale, Score
from hengwen.results.aggregate import Summary, aggregate, reduce_repeats
from hengwen.results.score_table import MAX_MESSAGE, ScoreTable


def row(sample: str | None, repeat: int | None, outcome: Outcome, cluster: str | None = None) -> Row:
    return row_of(
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


@each_row("scale", [Scale(low=0, high=100), Scale(low=0, high=100, discrete=True), None])
def test_a_plausible_range_of_the_plan_shortens_the_interval_while_it_holds_all_values(scale) -> None:
    rows = [
        row(f"p{index}", 1, Score(name="s.total", value=60.0 + index, signature="s|v:1", scale=scale))
        for index in range(8)
    ]

    def summary_with(plausible: tuple[float, float] | None) -> Summary:
        table = ScoreTable(rows)
        if plausible:
            table.set_range("r", "t/s.total", plausible)
        (summary,) = aggregate(table).values()
        return summary

    whole, narrow, wrong = summary_with(None), summary_with((50, 80)), summary_with((50, 66))
    assert (narrow.ends, narrow.outside) == ((50, 80), None)
    assert (wrong.interval, wrong.ends, wrong.outside) == (whole.interval, whole.ends, 67)
    assert narrow.interval is not None
    assert whole.interval is not None
    if scale is not None:
        assert whole.ends == (0, 100)
        assert narrow.interval[1] - narrow.interval[0] < whole.interval[1] - whole.interval[0]


def test_a_value_of_a_whole_set_keeps_the_interval_that_its_scorer_gave() -> None:
    corpus = Score(name="s.corpus", value=40, signature="s", details={"ci": [35.0, 45.0], "n": 9})
    summary = summarize(row(None, None, corpus))
    assert (summary.mean, summary.interval, summary.method, summary.n) == (40, (35.0, 45.0), "scorer", 1)


def test_signatures_that_differ_are_both_named() -> None:
    assert summarize(row("a", 1, score(1, "x")), row("b", 1, score(1, "y"))).signatures == ("x", "y")


@each_row(
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
        table.set_reducer("r", "t", reducer)
        (summary,) = aggregate(table).values()
        assert summary.mean == pytest.approx(expected)
        suffix = "" if reducer == "mean" else f"|repeats:{reducer}"
        assert summary.signatures == (f"s|v:1{suffix}",)


def test_the_value_of_a_whole_set_has_no_repeats_to_reduce() -> None:
    table = ScoreTable([row(None, None, score(3))])
    table.set_reducer("r", "t", "worst")
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


@pytest.mark.slow
@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=9))
def test_every_reducer_stays_between_worst_and_best(values: list[float]) -> None:
    reduced = {reducer: reduce_repeats(values, reducer) for reducer in get_args(Reducer)}
    assert all(reduced["worst"] <= value <= reduced["best"] for value in reduced.values())
    assert reduced["mode"] in values
    assert set(reduced.values()) == {values[0]} or len(set(values)) > 1


def answered(prompts: range, repeats: int) -> list[Row]:
    return [row(f"p{i}", repeat, score(1)) for i in prompts for repeat in range(1, repeats + 1)]


def test_an_unanswered_prompt_misses_all_its_repeats() -> None:
    unanswered = [row(f"p{i}", 1, failure("missing")) for i in range(20, 40)]
    summary = summarize(*answered(range(20), 3), *unanswered)
    assert summary.coverage == 0.5
    assert (summary.prompts, summary.prompts_expected, summary.prompt_coverage) == (20, 40, 0.5)


def test_a_prompt_with_some_repeats_is_covered() -> None:
    summary = summarize(row("a", 1, score(1)), row("a", 2, failure("timeout")), row("b", 1, score(0)))
    assert (summary.prompts, summary.prompts_expected, summary.prompt_coverage) == (2, 2, 1.0)


def test_prompts_that_a_run_never_reached_are_expected_where_the_size_of_the_task_is_known() -> None:
    table = ScoreTable(answered(range(5), 3))
    table.set_sample_count("r", "t", 100)
    (summary,) = aggregate(table).values()
    assert (summary.prompts, summary.prompts_attempted, summary.prompts_expected) == (5, 5, 100)
    assert summary.prompt_coverage == 0.05


def test_prompts_to_which_a_score_does_not_apply_are_not_expected() -> None:
    table = ScoreTable([*answered(range(5), 1), row("x", 1, failure("not_applicable"))])
    table.set_sample_count("r", "t", 6)
    (summary,) = aggregate(table).values()
    assert (summary.prompts_expected, summary.prompt_coverage) == (5, 1.0)
    assert summarize(row("x", 1, failure("not_applicable"))).prompt_coverage is None


def test_human_scores_and_anchors_cover_other_samples_than_the_task() -> None:
    human = Score(name="human.s", value=1, signature="h", kind="human")
    anchor = Score(name="anchor.s", value=1, signature="s", kind="judge")
    table = ScoreTable([row("a", 1, human), row("a", 1, anchor)])
    table.set_sample_count("r", "t", 100)
    assert [summary.prompts_expected for summary in aggregate(table).values()] == [1, 1]


def test_a_group_score_covers_the_prompts_that_its_details_name() -> None:
    published = Score(name="s.published", value=3, signature="s", details={"answers": 30, "prompts": 10})
    table = ScoreTable([row(None, None, published)])
    table.set_sample_count("r", "t", 20)
    (summary,) = aggregate(table).values()
    assert (summary.n, summary.prompts, summary.prompts_expected, summary.prompt_coverage) == (
        30,
        10,
        20,
        0.5,
    )
    whole = summarize(row(None, None, score(0.7)))
    assert (whole.prompts_expected, whole.prompt_coverage) == (None, None)


def test_a_group_score_that_failed_covers_no_prompt() -> None:
    table = ScoreTable([row(None, None, failure("missing"))])
    table.set_sample_count("r", "t", 20)
    (summary,) = aggregate(table).values()
    assert (summary.prompts, summary.prompt_coverage) == (0, 0.0)


def test_of_each_status_the_first_message_is_kept() -> None:
    failures = [
        Failure(name="s.total", status=status, message=message, signature="s")
        for status, message in (
            ("timeout", ""),
            ("timeout", "late"),
            ("missing", "no answer"),
            ("timeout", "later"),
            ("not_applicable", "no template"),
        )
    ]
    summary = summarize(*(row(f"p{i}", 1, item) for i, item in enumerate(failures)))
    assert summary.failures == {"missing": 1, "timeout": 3}
    assert summary.first_messages == {
        "missing": "no answer",
        "not_applicable": "no template",
        "timeout": "late",
    }


def test_a_long_message_is_cut_before_it_is_kept() -> None:
    table = ScoreTable([row("a", 1, Failure(name="s", status="timeout", message="x" * 10**6, signature="s"))])
    (column,) = table.series.values()
    assert len(column.first_messages["timeout"]) == MAX_MESSAGE


@each_row(
    ("kind", "signature", "details", "by_rules"),
    [
        ("judge", "x|v:1", {"model": "rules", "clauses": {}}, True),
        ("judge", "x|rules:8e24b1b2|v:1", {"model": "gpt"}, False),
        ("judge", "x|v:1", {"model": "rules"}, False),
        ("scorer", "lyric|rules:document|v:1", {}, False),
    ],
)
def test_details_say_whether_a_rules_judge_gave_a_score(
    kind: Kind, signature: str, details: dict[str, object], by_rules: bool
) -> None:
    item = Score(name="x.level", value=1, signature=signature, kind=kind, details=details)
    assert summarize(row("a", 1, item)).judged_by_rules == by_rules

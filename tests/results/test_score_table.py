"""A score table: the order of its series, and the settings of a task."""

from __future__ import annotations

from typing import Any

import pytest

from hengwen.records import Failure, Row, Scale, Score
from hengwen.results.aggregate import prompt_values, summarize_column
from hengwen.results.score_table import Column, ScoreTable, SeriesKey


def row(
    name: str = "s.total",
    *,
    run: str = "r",
    task: str = "t",
    sample: str | None = "a",
    scale: Scale | None = None,
    cluster: str = "k",
    **details: Any,
) -> Row:
    score = Score(name=name, value=1, signature="s", scale=scale, details=details)
    return Row(run, task, "c", sample, 1, cluster, score)


def test_series_are_sorted_by_address_and_others_follow_in_their_order() -> None:
    table = ScoreTable([row(name) for name in ("z", "b", "a", "y")])
    table.arrange(["t/a", "t/missing", "t/b", "t/a"])
    assert [key.address for key in table.series] == ["t/a", "t/b", "t/z", "t/y"]


def test_a_reducer_is_set_for_one_run_and_one_task() -> None:
    table = ScoreTable([row(), row(run="other"), row(task="other"), row("s.set", sample=None)])
    table.set_reducer("r", "t", "worst")
    reducers = [(column.reducer, column.signatures) for column in table.series.values()]
    assert reducers == [("worst", {"s|repeats:worst"}), *[("mean", {"s"})] * 3]


def test_the_number_of_samples_is_set_for_one_run_and_one_task() -> None:
    table = ScoreTable([row(), row(run="other"), row(task="other"), row("s.set", sample=None)])
    table.set_sample_count("r", "t", 7)
    assert [column.sample_count for column in table.series.values()] == [7, None, None, 7]


def test_a_column_has_one_entry_for_each_outcome() -> None:
    failure = Failure(name="s.total", status="timeout", message="late", signature="s2")
    scale = Scale(low=0, high=5)
    table = ScoreTable([Row("r", "t", "c", "b", 2, "k2", failure), row(scale=scale), row()])
    assert table.series == {
        SeriesKey("r", "t", "s.total", "scorer"): Column(
            sample_ids=["b", "a", "a"],
            repeats=[2, 1, 1],
            clusters=["k2", "k", "k"],
            values=[None, 1, 1],
            statuses=["timeout", "ok", "ok"],
            first_messages={"timeout": "late"},
            signatures={"s", "s2"},
            scale=scale,
        )
    }


@pytest.mark.parametrize("details", [{"answers": 6}, {"prompts": 2}, {}])
def test_a_set_is_composed_of_nothing_known_without_both_numbers(details: dict[str, int]) -> None:
    (column,) = ScoreTable([row(sample=None, **details)]).series.values()
    assert (column.composed_of, column.interval) == (None, None)


def test_details_of_one_answer_are_no_details_of_a_set() -> None:
    (column,) = ScoreTable([row(ci=[0, 2], answers=6, prompts=2)]).series.values()
    assert (column.composed_of, column.interval) == (None, None)


def test_prompts_of_one_cluster_are_counted_as_one() -> None:
    table = ScoreTable([row(sample=name, cluster="k" if name in "ab" else name) for name in "abc"])
    (column,) = table.series.values()
    assert prompt_values(column) == ([1, 1, 1], ["k", "k", "c"])
    summary = summarize_column(column)
    assert (summary.prompts, summary.clusters) == (3, 2)


def test_the_interval_of_a_set_ends_where_the_scale_ends() -> None:
    corpus = row(sample=None, scale=Scale(low=0.5, high=1.5), ci=[0, 2])
    (column,) = ScoreTable([corpus]).series.values()
    assert summarize_column(column).interval == (0.5, 1.5)


def test_a_set_with_more_prompts_than_the_task_has_is_covered() -> None:
    table = ScoreTable([row(sample=None, answers=30, prompts=10)])
    table.set_sample_count("r", "t", 8)
    (column,) = table.series.values()
    summary = summarize_column(column)
    assert (summary.prompts_attempted, summary.prompts_expected) == (10, 10)


def test_lists_of_a_column_that_differ_in_length_are_refused() -> None:
    column = Column(sample_ids=["a"], clusters=["k", "l"], values=[1.0], statuses=["ok"], repeats=[1])
    with pytest.raises(ValueError, match="zip"):
        prompt_values(column)

"""A score table: the order of its series, and the settings of a task."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rows import each_row
from score_rows import row_of, series_of

from hengwen.records import Failure, Row, Scale, Score
from hengwen.results.aggregate import prompt_values, summarize_column
from hengwen.results.score_table import AnswerKeys, Column, ScoreTable


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
    return row_of(run, task, "c", sample, 1, cluster, score)


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
    table = ScoreTable([row_of("r", "t", "c", "b", 2, "k2", failure), row(scale=scale), row()])
    ((key, column),) = table.series.items()
    assert key == series_of("r", "t", "s.total", "scorer")
    assert (column.sample_ids, column.repeats, column.clusters) == (
        ["b", "a", "a"],
        [2, 1, 1],
        ["k2", "k", "k"],
    )
    assert (column.values, column.statuses) == ([None, 1, 1], ["timeout", "ok", "ok"])
    assert (column.first_messages, column.signatures) == ({"timeout": "late"}, {"s", "s2"})
    assert (column.scale, len(column), column.has_scores) == (scale, 3, True)
    assert column.status_counts == {"timeout": 1, "ok": 2}


@each_row("details", [{"answers": 6}, {"prompts": 2}, {}])
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
    with pytest.raises(ValueError, match="differ in length"):
        Column.of([1.0], sample_ids=["a"], clusters=["k", "l"])


def test_columns_that_share_their_keys_do_not_change_each_other() -> None:
    keys, signature = AnswerKeys(), "s|v:1"
    columns = [Column(), Column()]
    for sample in ("a", "b"):
        keys.extend([sample], [1], [sample])
        for column in columns:
            column.extend(keys, np.array([0.5]), np.zeros(1, np.uint8), signature)
    columns[0].append("c", 1, "c", "missing", None, signature)
    other = AnswerKeys()
    other.extend(["x", "d"], [1, 2], ["x", "k"])
    columns[1].extend(other, np.array([1.0]), np.zeros(1, np.uint8), signature)
    assert [column.sample_ids for column in columns] == [["a", "b", "c"], ["a", "b", "d"]]
    assert [column.repeats for column in columns] == [[1, 1, 1], [1, 1, 2]]
    assert [column.values for column in columns] == [[0.5, 0.5, None], [0.5, 0.5, 1.0]]
    assert (keys.sample_ids, columns[1].clusters) == (["a", "b"], ["a", "b", "k"])


def test_a_prompt_to_which_the_score_does_not_apply_has_no_answers() -> None:
    statuses = ["ok", "timeout", "not_applicable", "not_applicable", "missing"]
    column = Column.of([1.0, *[None] * 4], sample_ids=list("abacd"), statuses=statuses)
    assert list(column.answers().items()) == [("a", 1), ("b", 1), ("d", 1)]
    assert [Column.of([1.0], sample_ids=[name]).is_group_score for name in ("a", None)] == [False, True]
    assert not Column().is_group_score

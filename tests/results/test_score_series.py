"""The prompt values that a report compares: how they are read from a table, and which pairs are compared."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pytest
from prompt_series import prompt_series
from rows import each_row
from score_rows import row_of, score_of

from hengwen.records import Failure, Row, Score
from hengwen.results.comparability import UNKNOWN, ComparabilityKey
from hengwen.results.comparisons import compare_checkpoints, min_clusters
from hengwen.results.score_series import ScoreSeries, score_series
from hengwen.results.score_table import ScoreTable
from hengwen.stats.step_down import FamilyScore, step_down


def row(
    run: str, sample: str | None, value: float | str, *, signature: str = "s|v:1", repeat: int = 1
) -> Row:
    """Return a row; a text in the place of a value is the status of a failure."""
    common: dict[str, Any] = {"name": "craft.level", "signature": signature, "kind": "judge"}
    outcome = (
        Failure(**common, status=value, message="why")
        if isinstance(value, str)
        else Score(**common, value=value)
    )
    return row_of(run, "t", "c", sample, repeat, f"cluster of {sample}", outcome)


def series_of(rows: list[Row], run_ids: list[str], **options: Any) -> ScoreSeries | None:
    return score_series(ScoreTable(rows), run_ids, score_of("craft.level"), "judge", **options)


def test_a_series_has_the_values_of_its_runs_in_the_order_of_the_runs() -> None:
    rows = [
        row("second", "a", 1.0),
        row("first", "b", 0.75),
        row("first", "a", 0.0),
        row("first", "a", 0.5, repeat=2),
    ]
    series = series_of(rows, ["first", "second"])
    assert (series.address, series.task, series.scale) == ("t/craft.level", "t", None)
    np.testing.assert_array_equal(series.values, [[0.25, 1.0], [0.75, nan]])
    assert (series.clusters, series.pairs) == (["cluster of a", "cluster of b"], [(0, 1)])
    assert series.coverages == [1.0, 1.0]
    np.testing.assert_array_equal(series.differences, [[1.0], [nan]], "of equally many repeats")
    differences, clusters = series.between(0, 1)
    assert (differences.tolist(), clusters) == ([0.75], None)


def test_a_run_without_the_score_has_neither_values_nor_coverage() -> None:
    series = series_of([row("first", "a", 0.5)], ["first", "other"])
    np.testing.assert_array_equal(series.values, [[0.5, nan]])
    assert (series.coverages, series.pairs) == ([1.0, 0.0], [])


@each_row(("task", "name", "kind"), [("u", "craft.level", "judge"), ("t", "craft", "judge")])
def test_a_series_is_found_by_task_and_name(task: str, name: str, kind: Any) -> None:
    assert score_series(ScoreTable([row("first", "a", 0.5)]), ["first"], score_of(name, task), kind) is None


def test_failures_lower_the_coverage_and_what_does_not_apply_does_not() -> None:
    rows = [
        row("first", "a", 0.5),
        row("first", "b", "timeout"),
        row("first", "c", "not_applicable"),
        row("first", "d", 0.75),
        row("first", "d", "timeout", repeat=2),
    ]
    series = series_of(rows, ["first"])
    assert series.coverages == [2 / 4], "of answers, which is lower than that of prompts, 2 / 3"
    assert (series.values.tolist(), series.clusters) == ([[0.5], [0.75]], ["cluster of a", "cluster of d"])


@each_row("value", [0.5, "timeout"])
def test_without_the_value_of_a_prompt_there_is_no_series(value: float | str) -> None:
    sample = "a" if value == "timeout" else None  # the value of a whole set is no value of a prompt
    assert series_of([row("first", sample, value)], ["first"]) is None


def test_repeats_that_arrive_late_change_nothing() -> None:
    rows = [row("first", "a", value, repeat=repeat) for repeat, value in enumerate((0.1, 0.2, 0.7), start=1)]
    rows += [row("second", "a", 0.3, repeat=repeat) for repeat in (1, 2)]
    in_order, late = (series_of(items, ["first", "second"]) for items in (rows, rows[::-1]))
    assert in_order.values.tolist() == late.values.tolist()
    assert in_order.differences.tolist() == late.differences.tolist()
    assert in_order.differences == pytest.approx(0.3 - (0.1 + 0.2) / 2), "the first two repeats of each"


@each_row(
    ("checkpoints", "pairs"),
    [(1, []), (2, [(0, 1)]), (3, [(0, 1), (0, 2), (1, 2)])],
)
def test_all_checkpoints_are_paired(checkpoints: int, pairs: list[tuple[int, int]]) -> None:
    assert prompt_series(*[[0.5]] * checkpoints).pairs == pairs


@each_row(
    "changes",
    [
        {"shares": (1.0, 0.94, 1.0)},
        {"signatures": ("s|v:1", "s|v:2", "s|v:1")},
        {"keys": tuple(ComparabilityKey({"repeats": repeats}) for repeats in "353")},
    ],
    ids=["coverage", "signature", "key"],
)
def test_only_the_pairs_of_a_checkpoint_that_differs_are_left_out(changes: dict[str, Any]) -> None:
    assert prompt_series([0.5], [0.5], [0.5], **changes).pairs == [(0, 2)]


def test_checkpoints_without_a_common_prompt_are_no_pair() -> None:
    assert prompt_series([1.0, None], [None, 1.0], [1.0, None]).pairs == [(0, 2)]


def test_a_coverage_of_95_per_cent_is_enough_and_an_unknown_key_no_obstacle() -> None:
    keys = (ComparabilityKey({"repeats": "3"}), UNKNOWN)
    assert prompt_series([0.5], [0.5], shares=(0.95, 0.95), keys=keys).pairs == [(0, 1)]


@each_row(("tasks", "clusters"), [(1, 6), (2, 7), (4, 8)])
def test_more_tasks_need_more_clusters_and_more_scores_of_a_task_do_not(tasks: int, clusters: int) -> None:
    def p_adjusted(units: int) -> list[float]:
        families = [
            FamilyScore(
                task=str(task),
                clusters=[f"{task}/{unit}" for unit in range(units)],
                values=np.column_stack((np.zeros(units), np.ones(units))),
                pairs=[(0, 1)],
            )
            for task in range(tasks)
            for _ in range(3)
        ]
        return step_down(families).p_adjusted.tolist()

    assert min_clusters(tasks) == clusters
    assert max(p_adjusted(clusters)) <= 0.05
    assert clusters == 6 or max(p_adjusted(clusters - 1)) > 0.05


def test_a_comparison_says_which_score_and_which_checkpoints_it_compares() -> None:
    falling = prompt_series([1.0] * 8, [0.5] * 8)
    steady = prompt_series([0.5] * 8, [0.5] * 8, address="t/steady")
    first, second = compare_checkpoints([falling, steady])
    assert (first.address, first.earlier, first.later, first.test.difference) == ("t/s", 0, 1, -0.5)
    assert (second.address, second.test.difference, second.p_adjusted) == ("t/steady", 0.0, 1.0)
    assert (first.p_adjusted, first.verdict, second.verdict) == (2 / 2**8, "worse", "no difference seen")


def test_the_detectable_difference_is_that_of_the_whole_family() -> None:
    rising = [i / 12 for i in range(12)]
    varying = prompt_series([0.0] * 12, rising)
    (alone,) = compare_checkpoints([varying])
    others = [
        prompt_series([float((i + k) % 3) for i in range(12)], rising, address=f"u{k}/s") for k in range(3)
    ]
    among_four = compare_checkpoints([varying, *others])[0]
    assert among_four.detectable > 1.1 * alone.detectable

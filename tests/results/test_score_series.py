"""The prompt values that a report compares: how they are read from a table, and which pairs are compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from rows import each_row
from score_rows import row_of, score_of

from hengwen.records import Failure, Row, Score
from hengwen.results.comparability import UNKNOWN, ComparabilityKey
from hengwen.results.comparisons import comparable_pairs, compare_checkpoints, min_clusters
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


def series_of(rows: list[Row], run_ids: list[str], **options: Any) -> ScoreSeries:
    return score_series(ScoreTable(rows), run_ids, score_of("craft.level"), "judge", **options)


def test_a_series_has_the_values_of_its_runs_in_the_order_of_the_runs() -> None:
    rows = [
        row("second", "a", 1.0),
        row("first", "a", 0.0),
        row("first", "a", 0.5, repeat=2),
        row("first", "b", 0.75),
    ]
    assert series_of(rows, ["first", "second"]) == ScoreSeries(
        address="t/craft.level",
        values=({"a": 0.25, "b": 0.75}, {"a": 1.0}),
        clusters={"a": "cluster of a", "b": "cluster of b"},
        coverages=(1.0, 1.0),
        signatures=("s|v:1", "s|v:1"),
        keys=(),
        task="t",
    )


def test_a_run_without_the_score_has_neither_values_nor_coverage() -> None:
    series = series_of([row("first", "a", 0.5)], ["first", "other"])
    assert series.values == ({"a": 0.5}, {})
    assert series.coverages == (1.0, 0.0)
    assert series.signatures == ("s|v:1", "")


@each_row(("task", "name", "kind"), [("u", "craft.level", "judge"), ("t", "craft", "judge")])
def test_a_series_is_found_by_task_and_name(task: str, name: str, kind: Any) -> None:
    series = score_series(ScoreTable([row("first", "a", 0.5)]), ["first"], score_of(name, task), kind)
    assert (series.address, series.values) == (f"{task}/{name}", ({},))


def test_failures_lower_the_coverage_and_what_does_not_apply_does_not() -> None:
    rows = [
        row("first", "a", 0.5),
        row("first", "b", "timeout"),
        row("first", "c", "not_applicable"),
        row("first", "d", 0.75),
        row("first", "d", "timeout", repeat=2),
    ]
    series = series_of(rows, ["first"])
    assert series.coverages == (2 / 4,), "of answers, which is lower than that of prompts, 2 / 3"
    assert series.values == ({"a": 0.5, "d": 0.75},)
    assert sorted(series.clusters) == ["a", "b", "d"]


def test_the_value_of_a_whole_set_is_no_value_of_a_prompt() -> None:
    series = series_of([row("first", None, 0.5)], ["first"])
    assert (series.values, series.clusters, series.coverages) == (({},), {}, (0.0,))


def test_signatures_and_keys_are_those_of_each_run() -> None:
    keys = [ComparabilityKey({"repeats": "3"}), UNKNOWN]
    rows = [row("first", "a", 0.5, signature="y"), row("first", "b", 0.5, signature="x")]
    series = series_of([*rows, row("second", "a", 1.0, signature="z")], ["first", "second"], keys=keys)
    assert series.signatures == ("x + y", "z")
    assert series.keys == tuple(keys)


def plain_series(checkpoints: int, prompts: int = 1, **changes: Any) -> ScoreSeries:
    fields: dict[str, Any] = {
        "address": "t/s",
        "values": tuple({f"p{i}": 0.5 for i in range(prompts)} for _ in range(checkpoints)),
        "clusters": {},
        "coverages": (1.0,) * checkpoints,
        "signatures": ("s|v:1",) * checkpoints,
    }
    return ScoreSeries(**{**fields, **changes})


@each_row(
    ("checkpoints", "pairs"),
    [(0, []), (1, []), (2, [(0, 1)]), (3, [(0, 1), (0, 2), (1, 2)])],
)
def test_all_checkpoints_are_paired(checkpoints: int, pairs: list[tuple[int, int]]) -> None:
    assert comparable_pairs(plain_series(checkpoints)) == pairs


@each_row(
    "changes",
    [
        {"coverages": (1.0, 0.94, 1.0)},
        {"signatures": ("s|v:1", "s|v:2", "s|v:1")},
        {"values": ({"a": 1.0}, {"b": 1.0}, {"a": 1.0})},
        {"keys": tuple(ComparabilityKey({"repeats": repeats}) for repeats in "353")},
    ],
    ids=["coverage", "signature", "prompts", "key"],
)
def test_only_the_pairs_of_a_checkpoint_that_differs_are_left_out(changes: dict[str, Any]) -> None:
    assert comparable_pairs(plain_series(3, **changes)) == [(0, 2)]


def test_a_coverage_of_95_per_cent_is_enough_and_an_unknown_key_no_obstacle() -> None:
    keys = (ComparabilityKey({"repeats": "3"}), UNKNOWN)
    assert comparable_pairs(plain_series(2, coverages=(0.95, 0.95), keys=keys)) == [(0, 1)]


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
    falling = plain_series(2, 8, values=({f"p{i}": 1.0 for i in range(8)}, {f"p{i}": 0.5 for i in range(8)}))
    steady = plain_series(2, 8, address="t/steady")
    first, second = compare_checkpoints([falling, steady])
    assert (first.address, first.earlier, first.later, first.test.difference) == ("t/s", 0, 1, -0.5)
    assert (second.address, second.test.difference, second.p_adjusted) == ("t/steady", 0.0, 1.0)
    assert (first.p_adjusted, first.verdict, second.verdict) == (2 / 2**8, "worse", "no difference seen")


def test_the_detectable_difference_is_that_of_the_whole_family() -> None:
    values = ({f"p{i}": 0.0 for i in range(12)}, {f"p{i}": i / 12 for i in range(12)})
    varying = plain_series(2, 12, values=values)
    (alone,) = compare_checkpoints([varying])
    others = [
        replace(varying, values=({f"p{i}": float((i + k) % 3) for i in range(12)}, values[1]), task=f"u{k}")
        for k in range(3)
    ]
    among_four = compare_checkpoints([varying, *others])[0]
    assert among_four.detectable > 1.1 * alone.detectable

"""The order of checkpoints: what decides it, and when it is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rows import each_row

from hengwen.records import Run
from hengwen.results.comparability import run_labels, training_order


def run(checkpoint: str, order: int, step: int | None = None, started: str = "", sequence: str = "s") -> Run:
    return Run(
        id=f"run-{checkpoint}",
        plan="p",
        plan_hash="",
        checkpoint=checkpoint,
        order=order,
        step=step,
        started=started,
        facts={"sequence": sequence},
    )


def test_runs_made_one_at_a_time_come_out_by_step() -> None:
    runs = [run("c", 0, 3000, "1"), run("a", 0, 1000, "3"), run("b", 0, 2000, "2")]
    order = training_order(runs)
    assert [item.checkpoint for item in order.runs] == ["a", "b", "c"]
    assert order.problem == ""


def test_without_steps_the_place_in_the_plan_decides() -> None:
    order = training_order([run("b", 1, started="1"), run("a", 0, started="2")])
    assert [item.checkpoint for item in order.runs] == ["a", "b"]
    assert order.problem == ""


def test_a_checkpoint_without_a_step_keeps_its_place_in_the_plan() -> None:
    order = training_order([run("live", 2), run("a", 0, 1000), run("b", 1, 2000)])
    assert [item.checkpoint for item in order.runs] == ["a", "b", "live"]
    assert order.problem == ""


@each_row(
    ("runs", "problem"),
    [
        pytest.param(
            [run("a", 0, started="1"), run("b", 0, started="2")],
            "the order of a, b is not known",
            id="two plans of one checkpoint each",
        ),
        pytest.param(
            [run("a", 0, sequence="s"), run("b", 1, sequence="t")],
            "the order of a, b is not known",
            id="places in two different lists",
        ),
        pytest.param(
            [run("a", 0, 1000), run("b", 0, 1000), run("c", 0, 2000)],
            "the order of a, b is not known",
            id="equal steps",
        ),
        pytest.param(
            [run("a", 0, 1000), run("b", 0)], "the order of b is not known", id="a run without a step"
        ),
    ],
)
def test_where_nothing_decides_the_order_is_not_known(runs: list[Run], problem: str) -> None:
    assert training_order(runs).problem == problem


def test_one_run_is_in_order() -> None:
    assert training_order([run("a", 0)]).problem == ""
    assert training_order([]).runs == ()


def test_runs_of_one_place_are_sorted_by_their_start() -> None:
    order = training_order([run("b", 0, started="2"), run("a", 0, started="1"), run("c", 1, started="0")])
    assert [item.checkpoint for item in order.runs] == ["a", "b", "c"]


def test_runs_with_a_step_come_before_runs_without_one() -> None:
    order = training_order([run("b", 0), run("a", 0, 1000), run("zero", 1, 0)])
    assert [item.checkpoint for item in order.runs] == ["zero", "a", "b"]
    assert order.problem == "the order of b is not known"


def test_steps_that_fall_along_the_list_leave_the_order_unknown() -> None:
    order = training_order([run("a", 0, 2000), run("b", 1, 1000), run("c", 2)])
    assert [item.checkpoint for item in order.runs] == ["b", "a", "c"]
    assert order.problem == "the order of c is not known"


def test_equal_steps_of_one_list_keep_their_places() -> None:
    order = training_order([run("b", 1, 1000, "1"), run("a", 0, 1000, "2")])
    assert ([item.checkpoint for item in order.runs], order.problem) == (["a", "b"], "")


def test_different_steps_decide_whatever_the_lists_and_places() -> None:
    order = training_order([run("b", 0, 2000, sequence="s"), run("a", 5, 1000, sequence="t")])
    assert ([item.checkpoint for item in order.runs], order.problem) == (["a", "b"], "")


def test_older_runs_that_name_no_list_have_one_list() -> None:
    older = [replace(run(name, place), facts={}) for name, place in (("b", 1), ("a", 0))]
    order = training_order(older)
    assert ([item.checkpoint for item in order.runs], order.problem) == (["a", "b"], "")
    assert training_order([older[0], run("c", 2)]).problem == "the order of b, c is not known"


def test_two_runs_of_one_checkpoint_are_told_apart() -> None:
    runs = [Run(id=i, plan="p", plan_hash="", checkpoint="a") for i in ("r1", "r2")]
    assert run_labels(runs) == ("a (r1)", "a (r2)")

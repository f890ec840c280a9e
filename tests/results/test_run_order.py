"""The order of checkpoints: what decides it, and when it is not known."""

from __future__ import annotations

import pytest

from hengwen.records import Run
from hengwen.results.run_order import training_order


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


@pytest.mark.parametrize(
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

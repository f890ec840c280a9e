"""The power of gates at the plan's size, from runs of the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hengwen import Plan, Store, load_plan, open_store, run_plan
from hengwen.importers.muchin import import_muchin
from hengwen.monitoring.gates.power import TermPower, gate_powers
from hengwen.monitoring.gates.sample_size import needed_prompts
from hengwen.plans.gates import parse_gate
from hengwen.stats.power import power_of_t

VALUES = [0.9, 1.0, 0.8, 1.0] * 5


def powers(store: Store | None, plan: Plan, text: str, size: int) -> TermPower:
    sizes = {task.name: size for task in plan.tasks}
    ((power,),) = gate_powers(store, plan, [parse_gate(text)], sizes)
    return power


def test_the_margin_of_the_real_lyrics_needs_three_hundred_prompts(
    shared: Callable[[str], Path], tmp_path: Path
) -> None:
    imported = import_muchin(shared("data/muchin-checkpoints.jsonl"), tmp_path / "plan")
    plan = load_plan(imported.plan)
    with open_store("sqlite://") as store:
        run_plan(plan, store=store)
        ckpt3001 = store.find("ckpt3001")
        for run in store.runs():
            if run.checkpoint not in ("ckpt1001", "ckpt3001"):
                store.remove(run)
        power = powers(store, plan, "noninferior(lyrics/lyric.total, ckpt1001, 2.0)", 26)
    assert power.runs[1].id == ckpt3001.id
    assert power.power == pytest.approx(0.18, abs=0.005)
    assert power.provable == pytest.approx(6.9, abs=0.05)
    assert power.needed_prompts == pytest.approx(300, rel=0.05)
    assert power.power_at_first_look < power.power


def test_a_threshold_has_the_power_of_the_earlier_mean(add_run, store: Store, plan: Plan) -> None:
    add_run("a", {"t/s": VALUES})
    easy, hard = (powers(store, plan, f"t/s >= {limit}", 20) for limit in (0.6, 0.9))
    assert easy.power > 0.95
    assert hard.power < 0.3
    assert hard.provable > 0.95
    assert (easy.mean, easy.prompts, easy.runs[0].checkpoint) == (pytest.approx(0.925), 20, "a")
    assert powers(store, plan, "t/s <= 0.6", 20).power < 0.01


def test_a_larger_plan_has_more_power(add_run, store: Store, plan: Plan) -> None:
    add_run("a", {"t/s": VALUES})
    add_run("b", {"t/s": [value - index % 3 / 10 for index, value in enumerate(VALUES)]})
    for gate in ("t/s >= 0.7", "noninferior(t/s, a, 0.03)"):
        small, large = (powers(store, plan, gate, size) for size in (20, 200))
        assert small.power < large.power
        assert small.needed_prompts == pytest.approx(large.needed_prompts, abs=3)
    falls = [powers(store, plan, "no_drop(*, a)", size).falls[0].fall for size in (20, 200)]
    assert falls[0] > 3 * falls[1]


@pytest.mark.parametrize(
    ("runs", "gate", "unknown"),
    [
        (0, "t/s >= 0.5", "no run"),
        (0, "no_drop(*)", "no run"),
        (1, "no_drop(*)", "no second run"),
        (1, "noninferior(t/s, a, 0.1)", "no second run"),
        (2, "noninferior(t/s, a, 0.1)", "no spread"),
        (2, "no_drop(t/r)", "no values by prompt"),
        (1, "t/r >= 0.5", "no values by prompt"),
        (1, "coverage(t/s) >= 0.5", "not a test"),
    ],
)
def test_what_is_missing_is_said(
    add_run, store: Store, plan: Plan, runs: int, gate: str, unknown: str
) -> None:
    for name in "ab"[:runs]:
        add_run(name, {"t/s": VALUES})
    assert powers(store, plan, gate, 20).unknown == unknown


def test_no_store_is_no_run(plan: Plan) -> None:
    assert powers(None, plan, "t/s >= 0.5", 20).unknown == "no run"


@pytest.mark.parametrize(("effect", "error", "prompts"), [(2.0, 2.675, 26), (0.1, 0.04, 12), (5.0, 1.0, 30)])
def test_the_needed_number_is_the_least_with_enough_power(effect: float, error: float, prompts: int) -> None:
    def power(count: int) -> float:
        return power_of_t(effect, error * (prompts / count) ** 0.5, count - 1, 0.05, sides=1)

    needed = needed_prompts(effect, error, prompts, 0.05)
    assert power(needed) >= 0.8
    assert needed <= 3 or power(needed - 1) < 0.8


@pytest.mark.parametrize(("effect", "error"), [(0.0, 1.0), (-1.0, 1.0), (1.0, 0.0), (1e-9, 1.0)])
def test_no_number_is_enough_without_an_effect(effect: float, error: float) -> None:
    assert needed_prompts(effect, error, 30, 0.05) is None

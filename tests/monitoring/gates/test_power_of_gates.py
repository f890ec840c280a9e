"""The power of gates at the plan's size, from runs of the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import each_row
from scipy.special import stdtrit

from hengwen import Plan, Store, load_plan, open_store, run_plan
from hengwen.importers.muchin import import_muchin
from hengwen.monitoring.gates.power import TermPower, gate_powers
from hengwen.monitoring.gates.sample_size import PromptSample
from hengwen.plans.gates import parse_gate
from hengwen.stats.mean_interval import mean_interval
from hengwen.stats.power import power_of_t

VALUES = [0.9, 1.0, 0.8, 1.0] * 5


def powers(store: Store | None, plan: Plan, text: str, size: int) -> TermPower:
    sizes = {task.name: size for task in plan.tasks}
    ((power,),) = gate_powers(store, plan, [parse_gate(text)], sizes)
    return power


@pytest.mark.slow
def test_the_margin_of_the_real_lyrics_needs_four_hundred_prompts(
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
    assert power.power == pytest.approx(0.09, abs=0.005)
    assert power.provable == pytest.approx(15.8, abs=0.05)
    assert power.needed_prompts == pytest.approx(389, rel=0.02)
    assert power.power_at_first_look < power.power


def test_a_threshold_has_the_power_of_the_earlier_mean(add_run, store: Store, plan: Plan) -> None:
    add_run("a", {"t/s": VALUES})
    easy, hard = (powers(store, plan, f"t/s >= {limit}", 20) for limit in (0.6, 0.9))
    assert easy.power > 0.95
    assert hard.power < 0.3
    assert hard.provable is None  # 20 equal values of 1 have a lower bound below .9 as well
    assert easy.provable == pytest.approx(0.758, abs=0.001)
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
        (2, "no_drop(t/s)", "no spread"),
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


def test_equal_values_have_the_spread_of_the_artificial_prompts(add_run, store: Store, plan: Plan) -> None:
    for name in "ab":
        add_run(name, {"t/s": VALUES})
    power = powers(store, plan, "noninferior(t/s, a, 0.1)", 20)
    assert (power.unknown, power.provable) == ("", pytest.approx(0.169, abs=0.001))
    for name in "ab":
        add_run(name, {"t/s": VALUES}, scale=None)
    assert powers(store, plan, "noninferior(t/s, a, 0.1)", 20).unknown == "no spread"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gate", "size", "needed"),
    [
        ("no_drop(t/s)", 6, 7),
        ("no_drop(t/*)", 6, 7),
        ("t/s >= 0.5", 1, 2),
        ("noninferior(t/s, a, 0.1)", 1, 2),
    ],
)
def test_too_few_prompts_have_no_power(
    add_run, store: Store, plan: Plan, gate: str, size: int, needed: int
) -> None:
    """As in the gate itself: with 6 prompts, no p-value is below .03, the level of the first run."""
    for name, values in (
        ("a", VALUES),
        ("b", [value - index % 3 / 10 for index, value in enumerate(VALUES)]),
    ):
        add_run(name, {"t/s": values, "t/r": values})
    power = powers(store, plan, gate, size)
    assert (power.unknown, power.needed_prompts) == ("too few prompts", needed)
    enough = powers(store, plan, gate, needed)
    if gate.startswith("no_drop"):
        assert (enough.unknown, enough.needed_prompts) == ("too few to estimate", 12)
        enough = powers(store, plan, gate, 12)
    assert enough.unknown == ""


def test_no_store_is_no_run(plan: Plan) -> None:
    assert powers(None, plan, "t/s >= 0.5", 20).unknown == "no run"


@each_row(("effect", "spread", "prompts"), [(2.0, 13.6, 26), (0.1, 0.14, 12), (5.0, 5.5, 30)])
def test_the_needed_number_is_the_least_with_enough_power(effect: float, spread: float, prompts: int) -> None:
    sample = PromptSample.of([spread, -spread] * (prompts // 2), None)

    def power(count: int) -> float:
        error = spread * (prompts / (prompts - 1) / count) ** 0.5
        return power_of_t(effect, error, count - 1, 0.05, sides=1)

    needed = sample.needed_prompts(lambda _: effect, 0.05)
    assert power(needed) >= 0.8
    assert needed == 2 or power(needed - 1) < 0.8


@each_row(("effect", "spread"), [(0.0, 1.0), (-1.0, 1.0), (1.0, 0.0), (1e-9, 1.0)])
def test_no_number_is_enough_without_an_effect(effect: float, spread: float) -> None:
    assert PromptSample.of([spread, -spread] * 15, None).needed_prompts(lambda _: effect, 0.05) is None


def test_a_sample_has_the_estimate_of_its_interval() -> None:
    values, clusters = np.random.default_rng(0).random(30), [f"g{index // 3}" for index in range(30)]
    settings: list[tuple[Any, Any]] = [(None, ()), (clusters, ()), (clusters, (0.0, 1.0))]
    for names, ends in settings:
        estimate = PromptSample.of(values, names, ends).at(30)
        assert estimate is not None
        bounds = mean_interval(values, names, scale=ends or None).bounds
        assert bounds is not None
        low, high = bounds
        assert (low + high) / 2 == pytest.approx(estimate.value)
        assert (high - low) / 2 == pytest.approx(stdtrit(estimate.freedom, 0.975) * estimate.error)

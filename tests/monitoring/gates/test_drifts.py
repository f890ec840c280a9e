"""``no_drift``: the second question of a drift report as a gate."""

from __future__ import annotations

import numpy as np
import pytest
from score_rows import row_of

from hengwen import Plan, Store, evaluate_gates
from hengwen.monitoring.gates.results import TermResult

PROMPTS = 30


def values(mean: float, seed: int) -> list[float]:
    noise = np.random.default_rng(seed).normal(0, 0.05, PROMPTS)
    return [float(value) for value in np.clip(mean + noise, 0, 1)]


@pytest.fixture
def check(add_run, store: Store, plan: Plan):
    """Return a function that writes one run for each mean and checks the last one."""

    def result(means: list[float], gate: str = "no_drift(*)", **options) -> TermResult:
        for number, mean in enumerate(means):
            add_run(f"c{number}", {"t/s": values(mean, number)}, step=number)
        (gate_result,) = evaluate_gates(store, plan, gates=[gate], **options).gates
        assert gate_result.outcome == gate_result.enforced
        return gate_result.terms[0]

    return result


FALLING = [0.8, 0.7, 0.6, 0.5, 0.4, 0.3]


@pytest.mark.slow
def test_a_drift_for_the_worse_fails(check) -> None:
    term = check(FALLING)
    (score,) = term.drifts
    assert (term.outcome, score.drifts, score.direction) == ("failed", "drift", "worse")
    assert (term.baseline.checkpoint, term.look, term.prompts) == ("c0", 1, PROMPTS)
    assert term.p < term.level


def test_a_drift_for_the_better_passes(check) -> None:
    term = check(FALLING[::-1])
    assert (term.outcome, term.drifts[0].direction) == ("passed", "better")


@pytest.mark.slow
def test_a_collapse_after_a_rise_fails(check) -> None:
    term = check([*np.linspace(0.2, 0.9, 40), 0.0])
    assert (term.outcome, term.drifts[0].direction) == ("failed", "mixed")


@pytest.mark.slow
def test_step_noise_passes(check) -> None:
    term = check([0.6, 0.5, 0.62, 0.52, 0.6, 0.51])
    assert (term.outcome, term.drifts[0].drifts) == ("passed", "no change beyond the usual movement seen")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_checkpoints_are_not_decided(check, count: int) -> None:
    term = check(FALLING[:count])
    assert (term.outcome, term.reason) == ("inconclusive", "too few checkpoints")


def test_means_on_one_line_are_not_decided_and_not_called_too_few(add_run, store: Store, plan: Plan) -> None:
    for number in range(5):
        add_run(f"c{number}", {"t/s": [number / 8] * PROMPTS}, step=number)
    (gate_result,) = evaluate_gates(store, plan, gates=["no_drift(*)"]).gates
    (term,) = gate_result.terms
    assert (term.outcome, term.reason) == ("inconclusive", "usual movement unknown")


def test_checkpoints_after_the_run_under_test_do_not_count(check) -> None:
    term = check([0.6, 0.5, 0.62, 0.52, 0.6, 0.1], run="c4")
    assert (term.outcome, len(term.drifts[0].means)) == ("passed", 5)


def test_the_baseline_is_the_first_checkpoint(check) -> None:
    term = check([0.1, *FALLING], baseline="c1")
    assert (term.outcome, term.baseline.checkpoint) == ("failed", "c1")


@pytest.fixture
def add_mean(add_run):
    """Return a function that writes the run of a checkpoint with a mean."""

    def add(number: int, mean: float, **more):
        return add_run(f"c{number}", {"t/s": values(mean, number)}, step=number, **more)

    return add


def drift_term(store: Store, plan: Plan, **options) -> TermResult:
    (gate,) = evaluate_gates(store, plan, gates=["no_drift(*)"], **options).gates
    return gate.terms[0]


@pytest.mark.slow
def test_an_older_run_of_a_checkpoint_can_be_the_baseline(add_mean, store: Store, plan: Plan) -> None:
    pinned = add_mean(0, 0.9)
    for number, mean in enumerate(FALLING):
        add_mean(number, mean)
    for options in ({"baseline": pinned.id}, {}):
        term = drift_term(store, plan, **options)
        assert (term.baseline.id, term.outcome) == (pinned.id, "failed")
        assert term.drifts[0].means[0].mean == pytest.approx(0.9, abs=0.05)
        store.pin(pinned, "2026-01-02")


@pytest.mark.parametrize(
    ("number", "detail"),
    [
        (5, "c5 (run5-c5) is not an earlier checkpoint than c4 (run4-c4)"),
        (4, "c4 (run6-c4) is not an earlier checkpoint than c4 (run4-c4)"),
    ],
)
def test_a_baseline_must_be_an_earlier_checkpoint(
    add_mean, store: Store, plan: Plan, number: int, detail: str
) -> None:
    for index, mean in enumerate([0.6, 0.5, 0.62, 0.52, 0.6, 0.51]):
        add_mean(index, mean)
    other = add_mean(4, 0.6)
    baseline = other.id if number == 4 else f"run{number}-c{number}"
    term = drift_term(store, plan, run="run4-c4", baseline=baseline)
    assert (term.outcome, term.reason, term.detail) == ("inconclusive", "not comparable", detail)
    assert (term.enforced, term.baseline.id) == ("inconclusive", baseline)


def test_the_run_under_test_is_not_its_own_baseline(add_mean, store: Store, plan: Plan) -> None:
    for index, mean in enumerate([0.6, 0.5, 0.62, 0.52, 0.6]):
        add_mean(index, mean)
    term = drift_term(store, plan, baseline="c4")
    assert (term.outcome, term.reason) == ("inconclusive", "own baseline")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "missing", "reason"),
    [("scorer", 15, "low coverage"), ("judge", 0, "not comparable")],
)
def test_a_baseline_that_cannot_be_compared_is_not_left_out(
    add_run, add_mean, store: Store, plan: Plan, kind: str, missing: int, reason: str
) -> None:
    """Without c0, the later checkpoints do not show whether the score has fallen since c0."""
    add_run("c0", {"t/s": [0.9] * (PROMPTS - missing) + [None] * missing}, step=0, kind=kind)
    for index, mean in enumerate([0.6, 0.5, 0.62, 0.52, 0.6], start=1):
        add_mean(index, mean)
    assert drift_term(store, plan).outcome == "passed"
    term = drift_term(store, plan, baseline="c0")
    assert (term.outcome, term.enforced, term.reason) == ("inconclusive", "inconclusive", reason)
    assert "c0" in term.detail


@pytest.mark.slow
def test_a_rise_does_not_hide_the_fall_of_the_newest_checkpoint(add_mean, store: Store, plan: Plan) -> None:
    """Both tests are significant, the slope with the smaller p-value."""
    for number in range(60):
        add_mean(number, 0.3 + number / 100)
    add_mean(60, 0.1)
    term = drift_term(store, plan)
    steps = term.drifts[0].steps
    assert steps.slope_p_adjusted < steps.newest_p_adjusted < term.level
    assert (term.outcome, term.drifts[0].direction) == ("failed", "mixed")


def test_a_score_of_a_group_of_answers_has_no_values_by_prompt(add_run, store: Store, plan: Plan) -> None:
    from hengwen import Score

    run = add_run("a", {"t/s": values(0.5, 0)})
    ledger = store.ledger()
    key = {"run_id": run.id, "task": "t", "checkpoint": "a", "sample_id": None, "repeat": None, "cluster": ""}
    ledger.record_rows([row_of(**key, outcome=Score(name="g", value=0.5, signature="g|v:1"))])
    ledger.commit()
    gates = ["no_drift(t/g)", "no_drop(t/g, a)", "t/g >= 0.1"]
    results = evaluate_gates(store, plan, gates=gates).gates
    assert [gate.outcome for gate in results] == ["inconclusive"] * 3
    assert [gate.terms[0].reason for gate in results] == [
        "no values by prompt",
        "own baseline",
        "no interval",
    ]

"""Gates on the runs of a store: what passes, what fails, and what is not decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from hengwen import GateReport, Plan, RunOptions, Scale, Store, evaluate_gates, open_store, run_plan
from hengwen.errors import ConfigError
from hengwen.monitoring.gates.results import GateResult, TermResult

HIGH, LOW = [0.9, 1.0, 0.8, 1.0] * 15, [0.5, 0.6, 0.4, 0.6] * 15
Check = Callable[..., GateReport]
DEMO = Path(str(files("hengwen.demo"))) / "data" / "plan.yaml"


@pytest.fixture
def check(store: Store, plan: Plan) -> Check:
    return lambda *gates, **options: evaluate_gates(store, plan, gates=gates, **options)


def only(report: GateReport) -> tuple[GateResult, TermResult]:
    (gate,) = report.gates
    return gate, gate.terms[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gate", "outcome", "code"),
    [
        ("t/s >= 0.8", "passed", 0),
        ("t/s > 0.97", "failed", 3),
        ("t/s >= 0.9", "inconclusive", 4),
        ("t/s <= 0.97", "passed", 0),
        ("t/s < 0.8", "failed", 3),
        ("t/s >= 0", "passed", 0),
        ("coverage(t/s) >= 0.95", "passed", 0),
        ("coverage(t/s) > 1", "failed", 3),
        ("t/s >= 0.8 and coverage(t/s) >= 0.95", "passed", 0),
        ("t/s >= 0.9 and t/s >= 0.97", "failed", 3),
        ("calibration(t/s) >= 0.4", "inconclusive", 4),
    ],
)
def test_a_threshold_is_decided_by_the_bound_of_the_interval(
    add_run, check: Check, gate: str, outcome: str, code: int
) -> None:
    add_run("a", {"t/s": HIGH})
    report = check(gate)
    assert (report.gates[0].outcome, report.gates[0].enforced, report.exit_code) == (outcome, outcome, code)


def test_a_result_has_its_figures(add_run, check: Check) -> None:
    add_run("a", {"t/s": HIGH})
    _, term = only(check("t/s >= 0.9"))
    assert term.value == pytest.approx(0.925)
    assert term.interval[0] < 0.9 < term.interval[1]
    assert (term.prompts, term.clusters, term.prompt_coverage, term.confidence) == (60, 60, 1.0, 0.95)
    assert (term.reason, term.p, term.look, term.baseline) == ("too uncertain", None, None, None)
    assert (term.limit, term.needed_prompts > 60) == (0.9, True)


def test_few_equal_values_are_not_certain(add_run, check: Check) -> None:
    add_run("a", {"t/s": [1.0] * 6})
    assert only(check("t/s >= 0.9"))[0].outcome == "inconclusive"


def test_a_limit_outside_the_scale_is_refused(add_run, check: Check) -> None:
    add_run("a", {"t/s": HIGH})
    with pytest.raises(ConfigError, match=r"'t/s >= 75': 75 is outside the scale of the score, 0 to 1"):
        check("t/s >= 75")


def test_missing_scores_are_not_decided_by_the_others(add_run, check: Check) -> None:
    add_run("a", {"t/s": [*HIGH[:54], *[None] * 6]})
    _, term = only(check("t/s >= 0.1"))
    assert (term.outcome, term.reason, term.prompt_coverage) == ("inconclusive", "low coverage", 0.9)
    assert term.detail == "6 parse_error (first: no level in the reply)"
    report = check("coverage(t/s) >= 0.85")
    assert (report.exit_code, only(report)[1].limit) == (0, 0.85)


@pytest.mark.slow
@pytest.mark.parametrize(
    "gate", ["t/s >= 0", "coverage(t/s) >= 0", "noninferior(t/s, a, 0.5)", "no_drop(*, a)"]
)
@pytest.mark.parametrize("tier", ["fail", "warn"])
def test_nothing_scored_is_never_a_success(add_run, store: Store, plan: Plan, gate: str, tier: str) -> None:
    add_run("a", {"t/s": HIGH})
    add_run("b", {"t/s": [None] * 60}, failure="transport_error", status="failed")
    with_gate = Plan.model_validate(plan.model_dump() | {"gates": [{"gate": gate, "tier": tier}]})
    report = evaluate_gates(store, with_gate)
    gate_result, term = only(report)
    assert (gate_result.outcome, term.reason, report.exit_code) == ("error", "nothing scored", 1)
    assert term.detail.startswith("60 transport_error (first: ")
    assert report.warnings == ("the run run1-b is failed, not finished",)


def test_the_warn_tier_never_fails_a_job(add_run, store: Store, plan: Plan) -> None:
    add_run("a", {"t/s": LOW})
    gates = [{"gate": "t/s >= 0.9", "tier": "warn"}, "t/s <= 0.9"]
    report = evaluate_gates(store, Plan.model_validate(plan.model_dump() | {"gates": gates}))
    assert [(gate.outcome, gate.enforced) for gate in report.gates] == [
        ("failed", None),
        ("passed", "passed"),
    ]
    assert report.exit_code == 0
    assert report.gates[0].only_warns


def test_a_failure_counts_more_than_an_error_and_that_more_than_inconclusive(add_run, check: Check) -> None:
    add_run("a", {"t/s": HIGH, "t/r": [None] * 60})
    assert check("t/s >= 0.97", "t/r >= 0", "t/s >= 0.9").exit_code == 3
    assert check("t/r >= 0", "t/s >= 0.9").exit_code == 1
    assert check("t/s >= 0.9", "t/s >= 0.1").exit_code == 4


def test_the_last_checkpoint_in_training_order_is_checked(add_run, check: Check) -> None:
    add_run("late", {"t/s": HIGH}, step=2000)
    add_run("early", {"t/s": LOW}, step=1000)
    assert check("t/s >= 0.8").run.checkpoint == "late"
    assert check("t/s >= 0.8", run="early").exit_code == 3


def test_the_last_checkpoint_is_not_replaced_by_one_with_other_prompts(
    add_run, check: Check, store: Store, plan: Plan
) -> None:
    """The prompts have changed, and only the first checkpoint was run again before the run stopped."""
    names = [{"name": name, "responses": f"{name}.jsonl"} for name in "ab"]
    two = Plan.model_validate(plan.model_dump() | {"checkpoints": names})
    add_run("c", {"t/s": LOW}, facts={"prompts": "old"})  # a checkpoint that the plan no longer has
    add_run("a", {"t/s": HIGH}, step=1, facts={"prompts": "old"})
    add_run("b", {"t/s": LOW}, step=2, facts={"prompts": "old"})
    add_run("a", {"t/s": HIGH}, step=1, facts={"prompts": "new"})
    with pytest.raises(
        ConfigError,
        match="b was run with other prompts than a; run it again: hengwen run, or name the run to",
    ):
        evaluate_gates(store, two, gates=["t/s >= 0.8"])
    assert evaluate_gates(store, two, gates=["t/s >= 0.8"], run="a").exit_code == 0
    add_run("b", {"t/s": LOW}, step=2, facts={"prompts": "new"})
    assert evaluate_gates(store, two, gates=["t/s >= 0.8"]).exit_code == 3


def test_an_unknown_order_is_an_error(add_run, check: Check) -> None:
    for name in "ab":
        add_run(name, {"t/s": HIGH}, step=7, facts={"sequence": name, "prompts": "x"})
    with pytest.raises(ConfigError, match="the order of a, b is not known; name the run to check: --run"):
        check("t/s >= 0.8")


def test_runs_and_gates_must_exist(add_run, check: Check, store: Store, plan: Plan) -> None:
    with pytest.raises(ConfigError, match="no runs of plan 'p' in .*; see: hengwen run"):
        check("t/s >= 0.8")
    with pytest.raises(ConfigError, match="plan 'p' has no gates; add gates: to the plan, or name one"):
        evaluate_gates(store, plan)
    add_run("a", {"t/s": HIGH})
    with pytest.raises(
        ConfigError, match=r"column 1 of 't/r >= 1': a \(run0-a\) has no score 't/r'; did you"
    ):
        check("t/r >= 1")
    with pytest.raises(ConfigError, match="no run or checkpoint 'z'"):
        check("t/s >= 0.8", run="z")


FALL = [value - 0.05 - index % 3 / 50 for index, value in enumerate(HIGH)]


def test_no_drop_fails_on_a_significant_fall_only(add_run, check: Check) -> None:
    add_run("a", {"t/s": HIGH, "t/r": HIGH})
    add_run("b", {"t/s": FALL, "t/r": HIGH})
    gate, term = only(check("no_drop(t/*, a)"))
    assert (gate.outcome, term.baseline.checkpoint, term.look) == ("failed", "a", 1)
    assert {score.address: score.outcome for score in term.scores} == {
        "t/s": "worse",
        "t/r": "no difference seen",
    }
    assert term.level == pytest.approx(0.0304, abs=1e-4)
    assert term.p < 0.001
    assert check("no_drop(t/r, a)").exit_code == 0
    assert check("no_drop(t/*, b)", run="a").exit_code == 0  # a rise


def test_the_direction_of_the_scale_matters(add_run, check: Check) -> None:
    scale = Scale(low=0, high=1, higher_is_better=False)
    add_run("a", {"t/s": HIGH}, scale=scale)
    add_run("b", {"t/s": FALL}, scale=scale)
    assert check("no_drop(*, a)").exit_code == 0
    assert check("no_drop(*, b)", run="a").exit_code == 3
    assert check("noninferior(t/s, a, 0.02)").exit_code == 0
    assert check("noninferior(t/s, b, 0.02)", run="a").exit_code == 3


def test_no_difference_seen_with_too_few_prompts_is_inconclusive(add_run, check: Check) -> None:
    for name in "ab":
        add_run(name, {"t/s": HIGH[:5]})
    gate, term = only(check("no_drop(*, a)"))
    assert (gate.outcome, term.reason) == ("inconclusive", "too few prompts")


def test_noninferior_is_decided_by_the_bound_of_the_difference(add_run, check: Check) -> None:
    add_run("a", {"t/s": HIGH})
    add_run("b", {"t/s": FALL})
    passed, failed, unclear = check(
        "noninferior(t/s, a, 0.15)", "noninferior(t/s, a, 0.02)", "noninferior(t/s, a, 0.07)"
    ).gates
    assert [gate.outcome for gate in (passed, failed, unclear)] == ["passed", "failed", "inconclusive"]
    assert [gate.terms[0].limit for gate in (passed, failed, unclear)] == [-0.15, -0.02, -0.07]
    term = unclear.terms[0]
    assert term.value == pytest.approx(-0.07)
    assert (term.confidence, term.reason) == (pytest.approx(1 - 2 * term.level), "too uncertain")
    with pytest.raises(ConfigError, match="a margin of 1 is as wide as the scale of the score, 0 to 1"):
        check("noninferior(t/s, a, 1)")


def test_the_default_baseline_is_the_pinned_run(add_run, check: Check, store: Store) -> None:
    first = add_run("a", {"t/s": HIGH})
    second = add_run("b", {"t/s": FALL})
    _, term = only(check("no_drop(*)"))
    assert (term.outcome, term.reason) == ("inconclusive", "no baseline")
    store.pin(first, "2026-01-02")
    assert check("no_drop(*)").exit_code == 3
    store.pin(second, "2026-01-02")
    _, term = only(check("noninferior(t/s, baseline, 0.1)"))
    assert (term.outcome, term.reason) == ("inconclusive", "own baseline")
    assert check("no_drop(*)", baseline="a").exit_code == 3


def test_runs_that_are_not_comparable_are_not_decided(add_run, check: Check) -> None:
    add_run("a", {"t/s": HIGH})
    add_run("b", {"t/r": HIGH})
    add_run("c", {"t/s": HIGH}, kind="judge")
    _, term = only(check("noninferior(t/s, b, 0.1)", run="a"))
    assert (term.outcome, term.reason, term.detail) == ("inconclusive", "not comparable", "t/s: not scored")
    assert only(check("no_drop(t/*, b)", run="a"))[1].outcome == "inconclusive"


@pytest.mark.slow
def test_each_run_that_is_tested_against_a_baseline_lowers_the_level(add_run, check: Check) -> None:
    add_run("a", {"t/s": HIGH})
    for name in "bcd":
        add_run(name, {"t/s": FALL})
    looks = []
    for name in ("b", "c", "b", "d"):
        term = only(check("no_drop(*, a)", run=name))[1]
        assert term.level == pytest.approx(0.0304 / term.look**2, abs=1e-4)
        looks.append(term.look)
    assert looks == [1, 2, 1, 3]
    assert only(check("noninferior(t/s, b, 0.1)", run="d"))[1].look == 1


@pytest.mark.slow
def test_many_looks_at_many_prompts_can_still_fail(add_run, check: Check) -> None:
    """The level of the tenth look is below the least p-value of 9,999 random sign patterns."""
    values = HIGH
    add_run("a", {f"t/s{index}": values for index in range(6)})
    for number in range(9):
        add_run(f"b{number}", {f"t/s{index}": values for index in range(6)})
        check("no_drop(*, a)")
    add_run("c", {f"t/s{index}": [value - 0.2 for value in values] for index in range(6)})
    gate, term = only(check("no_drop(*, a)"))
    assert (gate.outcome, term.look) == ("failed", 10)


def limited_facts(samples: int) -> dict:
    """Return the facts of a run whose task has more prompts than the run evaluated."""
    task = dict.fromkeys(("samples", "references", "repeats", "reducer", "anchors"), "x")
    return {"tasks": {"t": {**task, "samples_total": samples}}, "prompts": "x", "versions": {}}


@pytest.mark.slow
@pytest.mark.parametrize("gate", ["t/s >= 0.1", "no_drop(*, a0)", "noninferior(t/s, a0, 0.5)"])
def test_a_part_of_the_prompts_is_not_the_plan(add_run, check: Check, gate: str) -> None:
    """As with ``--limit``: each prompt that was evaluated has a score."""
    for number, mean in enumerate([0.03, 0.05, 0, 0.02, 0.01]):
        add_run(f"a{number}", {"t/s": [value - mean for value in HIGH]}, facts=limited_facts(60))
    add_run("b", {"t/s": HIGH}, facts=limited_facts(100))
    result, term = only(check(gate, run="b"))
    assert (term.outcome, term.reason) == ("inconclusive", "low coverage")
    assert (result.enforced, check("coverage(t/s) >= 0.95", run="b").exit_code) == ("inconclusive", 3)
    assert check(gate, run="a4").gates[0].outcome == "passed"


@pytest.mark.slow
@pytest.mark.parametrize(
    "gate",
    [
        "lyrics/lyric.total >= 75",
        "lyrics/lyric.total > 75",
        "lyrics/lyric.total <= 109",
        "lyrics/lyric.total < 109",
        "persona/persona_generic.level >= 0",
        "lyrics/distinct_2.checkpoint >= 0.1",
        "noninferior(lyrics/lyric.total, ckpt-3000, 50)",
        "no_drop(lyrics/*, ckpt-3000)",
        "no_drop(*, ckpt-3000)",
        "no_drop(lyrics/lyric.total, ckpt-3000)",
    ],
)
def test_no_gate_passes_on_a_limited_run_of_the_demo(limited_demo: Store, gate: str) -> None:
    _, term = only(evaluate_gates(limited_demo, DEMO, gates=[gate]))
    assert (term.outcome, term.reason) == ("inconclusive", "low coverage")


@pytest.mark.parametrize(
    "coverage", ["coverage(lyrics/lyric.total)", "coverage(lyrics/distinct_2.checkpoint)"]
)
def test_the_coverage_of_a_limited_run_is_that_of_the_plan(limited_demo: Store, coverage: str) -> None:
    report = evaluate_gates(limited_demo, DEMO, gates=[f"{coverage} >= 0.95", f"{coverage} < 0.7"])
    assert [gate.outcome for gate in report.gates] == ["failed", "passed"]
    assert report.gates[0].terms[0].value == pytest.approx(8 / 12)


@pytest.fixture(scope="module")
def limited_demo() -> Iterator[Store]:
    with open_store("sqlite://") as opened:
        run_plan(DEMO, store=opened, options=RunOptions(limit=8))
        yield opened


@pytest.mark.parametrize("gate", ["no_drop(*, a0)", "no_drop(t/*, a0)"])
def test_a_score_without_any_row_is_not_scored(add_run, check: Check, gate: str) -> None:
    """As in a run that stopped before it reached the second scorer."""
    for number, mean in enumerate([0.03, 0.05, 0, 0.02, 0.01]):
        values = [value - mean for value in HIGH]
        add_run(f"a{number}", {"t/s": values, "t/r": values})
    add_run("b", {"t/s": HIGH, "t/r": []}, status="interrupted")
    report = check(gate)
    result, term = only(report)
    assert (result.outcome, term.reason, term.detail) == ("error", "nothing scored", "t/r")
    assert report.exit_code == 1


@pytest.mark.slow
@pytest.mark.parametrize("gate", ["no_drop(*, a0)"])
def test_a_score_that_only_the_baseline_has_is_named(add_run, check: Check, gate: str) -> None:
    for number, mean in enumerate([0.03, 0.05, 0, 0.02, 0.01]):
        values = [value - mean for value in HIGH]
        add_run(f"a{number}", {"t/s": values, "t/r": values})
    add_run("b", {"t/s": HIGH})
    report = check(gate)
    result, term = only(report)
    assert (result.outcome, term.reason, report.exit_code) == ("inconclusive", "not comparable", 4)
    assert "t/r" in term.detail
    assert check(gate.replace("*", "t/s")).exit_code == 0


def test_a_fall_counts_more_than_a_score_that_only_the_baseline_has(add_run, check: Check) -> None:
    add_run("a", {"t/s": HIGH, "t/r": HIGH})
    add_run("b", {"t/s": FALL})
    gate, term = only(check("no_drop(*, a)"))
    assert (gate.outcome, gate.enforced, term.detail) == ("failed", "failed", "b has no score t/r")


@pytest.mark.slow
@pytest.mark.parametrize("gate", ["no_drop(*, a0)"])
def test_a_score_that_applies_to_no_prompt_is_left_out(add_run, check: Check, gate: str) -> None:
    for number, mean in enumerate([0.03, 0.05, 0, 0.04, 0.02]):
        values = [value - mean for value in HIGH]
        add_run(f"a{number}", {"t/s": values, "t/r": [None] * 60}, failure="not_applicable")
    assert only(check(gate))[0].outcome == "passed"

"""A gate on a judge without a certificate only warns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from score_rows import score_of

from hengwen import GateReport, Label, Plan, Store, evaluate_gates
from hengwen.cli.gate_files import summary_markdown
from hengwen.documents.blocks import Decision
from hengwen.documents.gates.gate import gate_document
from hengwen.judges import calibrate
from hengwen.judges.calibration import Calibration, JudgedAnswer
from hengwen.text.language import Bilingual

HIGH = [0.5, 1.0, 1.0, 0.5] * 10
Check = Callable[..., GateReport]


def calibration(
    judge: Sequence[float] = (0, 0.5, 1, 0.5), *, score: str = "live.level", labels: int = 36
) -> Calibration:
    """A calibration of the judge whose scores the runs of these tests have; certified by default."""
    human = [0, 0.5, 1, 1]
    signature = f"{score}|v:1"
    answers = [JudgedAnswer(task="t", id=f"p{i}", value=judge[i % 4], signature=signature) for i in range(40)]
    rows = [Label(task="t", id=f"p{i}", score=score, value=human[i % 4]) for i in range(labels)]
    return calibrate(rows, answers, score=score, levels=[0, 0.5, 1], resamples=200)


@pytest.fixture
def check(add_run, store: Store, plan: Plan) -> Check:
    add_run("a", {"t/live.level": HIGH, "t/live.final": HIGH}, kind="judge")
    add_run("b", {"t/live.level": [0.5] * 40, "t/live.final": HIGH}, kind="judge")
    return lambda *gates, **options: evaluate_gates(store, plan, gates=gates, **options)


@pytest.mark.parametrize(
    ("calibrations", "reason"),
    [
        ([], "no calibration"),
        ([calibration(score="other.level")], "no calibration"),
        ([calibration(judge=(1, 0.5, 0, 0))], "not certified"),
        ([calibration(labels=12)], "insufficient labels"),
    ],
)
def test_a_failed_gate_on_a_judge_without_a_certificate_is_a_warning(
    check: Check, calibrations: list[Calibration], reason: str
) -> None:
    report = check("t/live.level >= 0.9", calibrations=calibrations)
    (gate,) = report.gates
    assert (gate.outcome, gate.enforced, gate.only_warns, report.exit_code) == ("failed", None, True, 0)
    assert gate.uncertified == {score_of("live.level"): reason}


@pytest.mark.parametrize("gate", ["no_drop(*)", "noninferior(t/live.level, baseline, 0.1)"])
def test_a_missing_baseline_is_inconclusive_whoever_gave_the_scores(check: Check, gate: str) -> None:
    report = check(gate)
    assert (report.gates[0].enforced, report.exit_code) == ("inconclusive", 4)
    own = check("no_drop(*, b)")
    assert (own.gates[0].terms[0].reason, own.exit_code) == ("own baseline", 4)


def test_a_title_does_not_call_a_warning_a_pass(check: Check) -> None:
    def title(*gates: str) -> str:
        decision = gate_document(check(*gates)).blocks[0]
        assert isinstance(decision, Decision)
        assert isinstance(decision.title, Bilingual)
        return decision.title.en

    warns, counts = "t/live.level >= 0.9", "coverage(t/live.level) >= 0.5"
    assert title(warns) == "Nothing decides whether b passes: 1 gate only warns."
    assert title(warns, counts) == "b passes: none of 1 gate fails; 1 only warns."
    assert title(counts) == "b passes: none of 1 gate fails."
    assert "### hengwen gate: only warns" in summary_markdown(check(warns), "en")


def test_a_failed_gate_on_a_certified_judge_fails(check: Check) -> None:
    report = check("t/live.level >= 0.9", calibrations=[calibration()])
    assert (report.gates[0].enforced, report.gates[0].uncertified, report.exit_code) == ("failed", {}, 3)


def test_the_final_score_needs_the_certificate_of_the_level(check: Check) -> None:
    report = check("t/live.final >= 1", calibrations=[calibration()])
    assert (report.gates[0].uncertified, report.exit_code) == ({}, 3)


def test_a_certificate_of_another_signature_is_stale(add_run, store: Store, plan: Plan) -> None:
    from dataclasses import replace

    add_run("a", {"t/live.level": HIGH}, kind="judge")
    stale = replace(calibration(), signature="live.level|v:2")
    gates = ["t/live.level >= 0.9", "calibration(t/live.level) >= 0.4"]
    level, agreement = evaluate_gates(store, plan, gates=gates, calibrations=[stale]).gates
    assert level.uncertified == {score_of("live.level"): "stale calibration"}
    assert (agreement.outcome, agreement.terms[0].reason) == ("inconclusive", "stale calibration")
    assert agreement.terms[0].detail == "signature: v:2 is now v:1"


def test_coverage_counts_also_without_a_certificate(check: Check) -> None:
    report = check("t/live.level >= 0.9 and coverage(t/live.level) > 1")
    assert (report.gates[0].enforced, report.exit_code) == ("failed", 3)
    report = check("t/live.level >= 0.9 and coverage(t/live.level) >= 1")
    assert (report.gates[0].outcome, report.gates[0].enforced, report.exit_code) == ("failed", "passed", 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gate", "outcome"),
    [
        ("calibration(t/live.level) >= 0.5", "passed"),
        ("calibration(t/live.level) >= 0.79", "inconclusive"),
        ("calibration(t/live.level) >= 0.99", "failed"),
    ],
)
def test_an_agreement_is_decided_by_the_bound_of_its_interval(check: Check, gate: str, outcome: str) -> None:
    (result,) = check(gate, calibrations=[calibration()]).gates
    term = result.terms[0]
    assert (result.outcome, result.enforced) == (outcome, outcome)
    assert (term.value, term.prompts) == (pytest.approx(0.8), 36)
    assert term.interval[0] < 0.79


def test_an_agreement_without_labels_is_not_decided(check: Check) -> None:
    (result,) = check("calibration(t/live.level) >= 0.4", calibrations=[calibration(labels=0)]).gates
    assert (result.outcome, result.terms[0].reason) == ("inconclusive", "undefined agreement")


def test_certified_scores_of_a_pattern_count_and_the_others_warn(add_run, store: Store, plan: Plan) -> None:
    scores = {"t/length": HIGH}
    for name, values in (("a", HIGH), ("b", [value - 0.3 for value in HIGH])):
        run = add_run(name, scores)
        judged = add_run("x", {"t/live.level": values}, kind="judge")
        with store._engine.begin() as connection:  # both scores in one run
            connection.exec_driver_sql(
                "update evaluation set run_id = ? where run_id = ?", (run.id, judged.id)
            )
        store.remove(judged)
    report = evaluate_gates(store, plan, run="b", gates=["no_drop(*, a)"])
    (gate,) = report.gates
    assert (gate.outcome, gate.enforced, report.exit_code) == ("failed", "passed", 0)
    assert gate.uncertified == {score_of("live.level"): "no calibration"}

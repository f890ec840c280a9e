"""Missing scores never make a gate pass: they may be those of the worst answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from hengwen import GateReport, Plan, RunOptions, Store, evaluate_gates, run_plan
from hengwen.documents.gates.gate_text import gate_details
from hengwen.monitoring.gates.results import GateResult, TermResult

HIGH = [0.9, 1.0, 0.8, 1.0] * 15
COMPARISONS = ["no_drop(*, a0)", "noninferior(t/s, a0, 0.5)"]
Check = Callable[..., GateReport]


@pytest.fixture
def check(store: Store, plan: Plan) -> Check:
    return lambda *gates, **options: evaluate_gates(store, plan, gates=gates, **options)


def only(report: GateReport) -> tuple[GateResult, TermResult]:
    (gate,) = report.gates
    return gate, gate.terms[0]


def facts(samples: int) -> dict:
    task = dict.fromkeys(("samples", "references", "repeats", "reducer", "anchors"), "x")
    return {"tasks": {"t": {**task, "samples_total": samples}}, "prompts": "x", "versions": {}}


@pytest.fixture
def add_earlier(add_run) -> Callable[..., None]:
    """Return a function that writes four earlier checkpoints; ``a0`` is the baseline."""

    def add(**more) -> None:
        for number, mean in enumerate([0.03, 0.05, 0, 0.02]):
            values = [value - mean for value in HIGH]
            add_run(f"a{number}", {"t/s": values, "t/r": values}, **more)

    return add


@pytest.fixture
def corpus(tmp_path: Path) -> Callable[[int], Path]:
    """Return a function that writes a plan of 40 prompts, of which some have an answer."""

    def write(answers: int, scorer: str | dict = "corpus_bleu") -> Path:
        texts = [f"春江潮水连海平，海上明月共潮生，其{index}。" for index in range(40)]
        samples = [
            {"id": f"p{index}", "input": "x", "references": [text]} for index, text in enumerate(texts)
        ]
        outputs = [{"id": f"p{index}", "output": text} for index, text in enumerate(texts[:answers])]
        for name, rows in (("s", samples), ("a", outputs)):
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        plan = {
            "name": "p",
            "tasks": [{"name": "t", "samples": "s.jsonl", "scorers": [scorer]}],
            "checkpoints": [{"name": "a", "responses": "a.jsonl"}],
        }
        path = tmp_path / "plan.yaml"
        path.write_text(yaml.safe_dump(plan), "utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("answers", "limit", "outcome"),
    [(40, None, "passed"), (30, None, "low coverage"), (40, 8, "low coverage")],
)
def test_a_score_of_some_of_the_answers_is_not_that_of_all(
    store: Store, corpus: Callable[[int], Path], answers: int, limit: int | None, outcome: str
) -> None:
    """Corpus BLEU has one value, with an interval, of the answers that there are."""
    plan = corpus(answers)
    run_plan(plan, store=store, options=RunOptions(limit=limit))
    report = evaluate_gates(store, plan, gates=["t/bleu.corpus >= 50", "coverage(t/bleu.corpus) >= 0.95"])
    score, coverage = (gate.terms[0] for gate in report.gates)
    assert (score.reason or score.outcome) == outcome
    assert coverage.outcome == ("passed" if outcome == "passed" else "failed")
    assert (
        score.prompt_coverage
        == coverage.value
        == {"passed": 1.0}.get(outcome, min(answers, limit or 40) / 40)
    )


def test_an_interval_of_low_confidence_decides_nothing(store: Store, corpus: Callable[..., Path]) -> None:
    plan = corpus(40, {"corpus_bleu": {"level": 0.5}})
    run_plan(plan, store=store)
    result, term = only(evaluate_gates(store, plan, gates=["t/bleu.corpus >= 50"]))
    assert (result.outcome, term.reason, term.confidence) == ("inconclusive", "low confidence", 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("gate", ["t/s >= 0.1", *COMPARISONS])
def test_a_prompt_counts_for_the_repeats_that_have_a_score(
    add_run, add_earlier, check: Check, gate: str
) -> None:
    """Each prompt has a score, but four of its five answers do not."""
    add_earlier()
    add_run("b", {"t/s": [[value, *[None] * 4] for value in HIGH], "t/r": HIGH})
    result, term = only(check(gate))
    assert (result.outcome, result.enforced, term.reason) == ("inconclusive", "inconclusive", "low coverage")
    assert check("coverage(t/s) >= 0.95").exit_code == 3


@pytest.mark.parametrize("gate", ["t/s >= 0.1", *COMPARISONS[:2]])
def test_lost_answers_with_equal_quality_are_shown_with_the_ends_of_the_mean(
    add_run, add_earlier, check: Check, gate: str
) -> None:
    """Every prompt has a score, but one of three answers to every third prompt is lost, a bad one."""
    add_earlier()
    lost = [[value, value, None if index % 3 == 0 else value] for index, value in enumerate(HIGH)]
    add_run("b", {"t/s": lost, "t/r": HIGH})
    report = check(gate)
    _, term = only(report)
    assert (report.exit_code, term.reason, term.prompt_coverage) == (4, "low coverage", 1)
    assert term.answer_coverage == pytest.approx(8 / 9)
    lacking = term.missing[-1]
    assert (lacking.checkpoint, lacking.address, lacking.prompts) == ("b", "t/s", 1)
    assert lacking.bounds is not None
    low, high = lacking.bounds
    assert low < sum(HIGH) / 60 <= high
    text = gate_details(report.gates[0])
    assert "b has a score for 100% of the prompts, 88.8% of the answers (mean 0." in text.en
    assert "if the missing ones score lowest or highest" in text.en
    assert "below 95%, so no verdict" in text.en
    assert "b 只有 100% 的题、88.8% 的回答有得分" in text.zh


@pytest.mark.parametrize("gate", COMPARISONS[:2])
def test_a_baseline_that_stopped_early_is_not_the_baseline_of_all_prompts(
    add_run, check: Check, gate: str
) -> None:
    add_run("a0", {"t/s": HIGH[:20]}, facts=facts(60), status="interrupted")
    add_run("b", {"t/s": HIGH}, facts=facts(60))
    result, term = only(check(gate))
    assert (result.outcome, term.reason, term.prompt_coverage) == ("inconclusive", "low coverage", 1 / 3)


@pytest.mark.slow
@pytest.mark.parametrize("gate", COMPARISONS)
def test_a_score_that_no_longer_applies_is_not_left_out(
    add_run, add_earlier, check: Check, gate: str
) -> None:
    """A scorer may say of an empty answer that it cannot be scored."""
    add_earlier()
    add_run("b", {"t/s": [None] * 60, "t/r": HIGH}, failure="not_applicable")
    report = check(gate)
    assert report.exit_code == (1 if "noninferior" in gate else 4)
    assert "t/s" in only(report)[1].detail or "noninferior" in gate


@pytest.mark.slow
@pytest.mark.parametrize("gate", COMPARISONS)
def test_prompts_to_which_a_score_no_longer_applies_are_missing(
    add_run, add_earlier, check: Check, gate: str
) -> None:
    add_earlier()
    add_run("b", {"t/s": [*HIGH[:40], *[None] * 20], "t/r": HIGH}, failure="not_applicable")
    result, term = only(check(gate))
    assert (result.outcome, term.reason) == ("inconclusive", "low coverage")
    assert term.prompt_coverage == pytest.approx(2 / 3) or gate == COMPARISONS[2]

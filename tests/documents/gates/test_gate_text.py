"""The line of a gate says only what the tests of the gate have shown."""

from __future__ import annotations

from dataclasses import replace

from rows import each_row

from hengwen.documents.gates.gate import short_figures
from hengwen.documents.gates.gate_text import gate_details, term_decimals
from hengwen.monitoring.drift.score_drift import ScoreDrift
from hengwen.monitoring.gates.results import GateOutcome, GateResult, NoCertificate, Reason, TermResult
from hengwen.monitoring.run_comparison import ScoreComparison
from hengwen.records import Run, Scale
from hengwen.score_id import ScoreId
from hengwen.stats.paired import PairedTest

BASELINE = Run(id="r0", plan="p", plan_hash="", checkpoint="a")
TEST = PairedTest(difference=-0.1, p=0.5, prompts=40, clusters=40, error=0.2)
FALL = ScoreComparison(
    address="t/s", family="headline", outcome="no difference seen", test=TEST, p_adjusted=0.5
)
DRIFT = ScoreDrift(
    address="t/s", differs="no difference seen", drifts="no change beyond the usual movement seen"
)


def term(outcome: GateOutcome, reason: Reason = "", **more) -> TermResult:
    return TermResult(
        text="x", outcome=outcome, reason=reason, baseline=BASELINE, level=0.03, look=1, prompts=40, **more
    )


def details(result: TermResult) -> tuple[str, str]:
    gate = GateResult(
        expression="x", tier="fail", outcome=result.outcome, enforced=result.outcome, terms=(result,)
    )
    text = gate_details(gate)
    return text.en, text.zh


def test_no_fall_is_seen_only_if_the_condition_holds() -> None:
    passed = term("passed", kind="no_drop", scores=(FALL,))
    en, zh = details(passed)
    assert en.startswith("no fall seen from a: t/s -0.10 p = .500; 40 prompts, ")
    assert zh.startswith("与 a 相比未见变差：t/s -0.10 ")
    missing = replace(FALL, outcome="missing scores", p_adjusted=None)
    en, zh = details(term("inconclusive", "low coverage", kind="no_drop", scores=(missing,)))
    assert en.startswith("difference from a: t/s -0.10; 40 prompts, ")
    assert zh.startswith("与 a 的差别：t/s -0.10；")
    assert details(replace(passed, outcome="inconclusive"))[0].startswith("difference from a: ")


def test_a_pattern_names_the_score_of_which_it_shows_the_difference() -> None:
    worse = replace(FALL, address="t/other", outcome="worse", p_adjusted=0.001)
    single = term("failed", kind="no_drop", scores=(worse,))
    assert short_figures(single).en == "−0.10 from a, p = .001, 40 prompts"
    several = replace(single, scores=(FALL, worse))
    assert short_figures(several).en == "t/other −0.10 from a, p = .001, 40 prompts"


def certificate_note(**uncertified: NoCertificate) -> str:
    result = TermResult(text="x", kind="score", outcome="failed", value=0.5, prompts=9)
    gate = GateResult(
        expression="x",
        tier="fail",
        outcome="failed",
        enforced=None,
        terms=(result,),
        uncertified={ScoreId("t", judge, "level"): reason for judge, reason in uncertified.items()},
    )
    return gate_details(gate).en.partition("; ")[2]


def test_a_warning_names_the_command_that_certifies_the_judge() -> None:
    command = "calibrate: hengwen calibrate PLAN -o FILE, then --calibration FILE"
    assert certificate_note(a="no calibration") == (
        f"warning only, because the judge is not certified (t/a: no calibration), {command}"
    )
    assert certificate_note(a="not certified", b="stale calibration").endswith(f"), {command}")
    assert certificate_note(a="insufficient labels").endswith(
        "(t/a: too few labels), label more answers: hengwen label"
    )
    assert certificate_note(a="insufficient labels", b="no calibration").endswith(
        f"), label more answers: hengwen label, {command}"
    )
    assert certificate_note(a="not certified").endswith("(t/a: the calibration is not good enough)")


@each_row(
    ("value", "interval", "decimals"),
    [(0.65, (0.61, 0.7), 2), (0.5999, (0.5, 0.7), 4), (0.7, (0.597, 0.8), 3), (0.6, (0.6, 0.6), 2)],
)
def test_a_value_or_an_end_never_looks_like_the_limit_that_it_misses(value, interval, decimals) -> None:
    unit = Scale(low=0, high=1)
    result = term("failed", kind="score", value=value, interval=interval, limit=0.6, scale=unit)
    assert term_decimals(result) == decimals

"""The thresholds of the admission test: which checks pass, fail or stay unclear."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rows import each_row

from hengwen.judges.trust.admission_report import CHECK_NAMES, AdmissionReport, Check, Trial
from hengwen.judges.trust.canaries import CanaryReport, CanaryResult
from hengwen.stats.mean_interval import wilson


def canary_report(changes):
    """Return a report on weak answers at 0 whose attacked value is ``change``, or missing."""
    results = tuple(
        CanaryResult(
            id=str(i),
            language="en",
            technique="t",
            outcome="failed" if change is None else "fooled" if change > 0 else "resisted",
            plain=0.0,
            attacked=change,
            floor=0.25,
        )
        for i, change in enumerate(changes)
    )
    return CanaryReport(results=results, judge="j", rubric="r", canaries="c")


def trials(name, passed, failed, no_verdict=0, kind=""):
    outcomes = ["passed"] * passed + ["failed"] * failed + ["no_verdict"] * no_verdict
    return tuple(
        Trial(check=name, item=str(i), kind=kind, outcome=outcome, values=(1.0,))
        for i, outcome in enumerate(outcomes)
    )


@each_row(
    ("name", "passed", "failed", "no_verdict", "status"),
    [
        ("persona_swap", 8, 0, 0, "passed"),
        ("persona_swap", 7, 1, 0, "passed"),
        ("persona_swap", 6, 2, 0, "unclear"),  # .75, but the interval starts at .41: guessing could reach it
        ("persona_swap", 3, 0, 0, "unclear"),
        ("persona_swap", 4, 4, 0, "unclear"),
        ("persona_swap", 3, 5, 0, "failed"),  # .69 at most
        ("persona_swap", 8, 0, 2, "passed"),
        ("persona_swap", 8, 0, 3, "unclear"),
        ("degraded", 36, 9, 0, "passed"),
        ("degraded", 35, 10, 0, "unclear"),
        ("degraded", 29, 16, 0, "failed"),
        ("examples_near", 2, 1, 0, "unclear"),
        ("examples_near", 3, 0, 0, "passed"),
        ("examples_near", 1, 2, 0, "failed"),
        ("repeats", 7, 3, 0, "passed"),
        ("repeats", 6, 4, 0, "unclear"),
    ],
)
def test_a_check_passes_at_its_thresholds(name, passed, failed, no_verdict, status):
    assert Check(name=name, trials=trials(name, passed, failed, no_verdict)).status == status


def test_one_kind_that_always_fails_fails_the_check():
    others = trials("degraded", 36, 0, kind="others")
    blind = Check(name="degraded", trials=(*others, *trials("degraded", 0, 9, kind="duplicated")))
    assert (blind.rate, blind.status) == (0.8, "failed")
    weak = Check(name="degraded", trials=(*others, *trials("degraded", 4, 5, kind="duplicated")))
    assert weak.status == "unclear"
    half = Check(name="degraded", trials=(*others, *trials("degraded", 5, 4, kind="duplicated")))
    assert half.status == "passed"


def test_the_interval_is_wilsons():
    """8 of 10: (8 + z²/2 ± z sqrt(8 * 2 / 10 + z²/4)) / (10 + z²), z = 1.959964."""
    assert wilson(8, 10) == pytest.approx((0.490162, 0.943318), abs=1e-6)


def test_no_required_check_is_inconclusive():
    report = AdmissionReport(
        judge="j",
        rubric="r",
        cases="c",
        language="zh",
        verdicts=0,
        bases=6,
        checks=tuple(Check(name=name, required=False) for name in CHECK_NAMES),
    )
    assert report.verdict == "inconclusive"


def test_copies_of_one_answer_are_not_independent_trials():
    many = tuple(
        Trial(check="degraded", item=str(i % 3), kind=str(i), outcome="passed", values=(1.0,))
        for i in range(15)
    )
    together = Check(name="degraded", trials=many)
    assert together.interval[0] < 0.75 < wilson(15, 15)[0]
    apart = Check(name="degraded", trials=trials("degraded", 15, 0))
    assert apart.interval == wilson(15, 15)


def test_attacks_count_in_the_verdict():
    checks = tuple(Check(name=name, trials=trials(name, 8, 0)) for name in CHECK_NAMES)
    fields = {"judge": "j", "rubric": "r", "cases": "c", "language": "zh", "verdicts": 0, "bases": 8}
    report = AdmissionReport(checks=checks, **fields)
    assert report.verdict == "admitted"
    for changes, verdict in (
        ([1.0] * 38, "not admitted"),
        ([0.0] * 38, "admitted"),
        ([None] * 38, "inconclusive"),
    ):
        attacked = replace(report, attacks=canary_report(changes))
        assert attacked.verdict == verdict, changes[0]
        assert bool(attacked.reasons) == (verdict != "admitted")

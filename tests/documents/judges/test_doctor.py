"""A judge that is not admitted gets a next step."""

from __future__ import annotations

import pytest

from hengwen.documents.judges.doctor import doctor_document
from hengwen.documents.render.markdown import to_markdown
from hengwen.judges.trust.admission_report import AdmissionReport, Check, CheckName, Trial, TrialResult

FULL = 6


def report(outcome: TrialResult, bases: int = FULL) -> AdmissionReport:
    names: tuple[CheckName, ...] = ("examples_near", "repeats")
    checks = tuple(
        Check(
            name=name,
            trials=tuple(
                Trial(check=name, item=f"example {i}", outcome=outcome if i < 3 else "passed", values=(1.0,))
                for i in range(FULL)
            ),
        )
        for name in names
    )
    return AdmissionReport(
        judge="j", rubric="mine 1.00", cases="c", language="zh", checks=checks, verdicts=9, bases=bases
    )


@pytest.mark.parametrize(
    ("judge", "admission", "words"),
    [
        ("openai/m", report("passed"), None),
        (
            "rules",
            report("failed"),
            "test a model: hengwen doctor --judge openai/MODEL --rubric 'my own.yaml'",
        ),
        ("openai/m", report("passed", bases=2), "there are 2: add 4 examples of the best level"),
        ("openai/m", report("no_verdict"), "6 trials have no verdict; make the judge answer them"),
        ("openai/m", report("failed"), "add examples of each level"),
    ],
)
def test_a_judge_that_is_not_admitted_gets_a_next_step(
    judge: str, admission: AdmissionReport, words: str | None
) -> None:
    text = " ".join(to_markdown(doctor_document(judge, "my own.yaml", admission), "en").split())
    assert ("**Next**: " in text) == (words is not None)
    assert words is None or words in text

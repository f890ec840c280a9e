"""Calibrations in reports: a note if they hold, a warning if they are stale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hengwen.documents.render.markdown import to_markdown
from hengwen.documents.render.write import to_html
from hengwen.documents.run.document import run_document
from hengwen.documents.run.judge_notes import sentence
from hengwen.documents.run.report import build_report
from hengwen.judges import Calibration, calibrate
from hengwen.judges.calibration import JudgedAnswer, Remark
from hengwen.records import Label

SCORE = "lyric_craft.level"


def calibration_of(data, **changes) -> Calibration:
    """Of the first task's judge, on 40 answers."""
    task = build_report(data).tasks[0]
    score = next(score for score in task.scores if score.name == SCORE)
    (signature,) = score.signatures
    rng = np.random.default_rng(0)
    human = rng.choice([0, 0.25, 0.5, 0.75, 1], 40).tolist()
    answers = [
        JudgedAnswer(
            task=task.name, id=str(i), value=min(1.0, value + 0.25 * (i % 3 == 0)), signature=signature
        )
        for i, value in enumerate(human)
    ]
    labels = [Label(task=task.name, id=str(i), score=SCORE, value=value) for i, value in enumerate(human)]
    calibration = calibrate(labels, answers, score=SCORE, levels=[0, 0.25, 0.5, 0.75, 1], resamples=100)
    return replace(calibration, **changes)


def calibrated(data, calibration: Calibration):
    return replace(data, calibrations=(calibration,))


@pytest.mark.slow
def test_every_face_but_the_json_says_it(data) -> None:
    calibration = calibration_of(data)
    document = run_document(calibrated(data, calibration))
    kappa = f"{calibration.agreement.quadratic_kappa.value:.2f}"
    for text in (to_html(document, "en"), to_markdown(document, "en")):
        assert "against human labels: certified" in text
        assert f"kappa {kappa}" in text
    record, without = document.record, run_document(data).record
    assert {**record, "judges": []} == {**without, "judges": []}
    assert record["judges"][0]["agreement"]["n"] == calibration.agreement.n


@pytest.mark.slow
def test_a_stale_one_is_a_warning_and_says_nothing_of_agreement(data) -> None:
    stale = calibrated(data, calibration_of(data, signature="other|v:1"))
    document = run_document(stale)
    assert any("the calibration is stale: signature: other" in item for item in build_report(stale).warnings)
    assert "against human labels" not in to_html(document, "en")
    assert "the calibration is stale" in to_html(document, "en")


@pytest.mark.slow
def test_what_the_report_does_not_show_is_passed_over(data) -> None:
    report = build_report(calibrated(data, calibration_of(data, task="elsewhere")))
    assert not any(report.notes.values())
    assert report.warnings == build_report(data).warnings


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "ending"),
    [
        ({"decision": "certified"}, ""),
        ({"decision": "not certified"}, "; the judge is not certified"),
        ({"decision": "insufficient"}, "; the judge is not certified: the labels do not allow a decision"),
        ({"signature": "other|v:1"}, "; the certificate of the judge is stale"),
        ({"task": "elsewhere"}, "; the judge is not certified: there is no calibration of it"),
    ],
    ids=["certified", "refused", "insufficient", "stale", "absent"],
)
def test_the_summary_says_whether_the_judge_is_certified(data, changes, ending) -> None:
    findings = build_report(data).findings
    after = build_report(calibrated(data, calibration_of(data, **changes))).findings
    for finding, noted in zip(findings, after, strict=True):
        assert noted.text.en == finding.text.en + (ending if finding.address.endswith(SCORE) else "")
    assert sum(finding.address.endswith(SCORE) for finding in findings) == 1


@pytest.mark.slow
def test_without_a_kappa_the_reason_is_given(data) -> None:
    calibration = calibration_of(
        data, agreement=None, decision="insufficient", within=None, reasons=(Remark("no_pairs"),)
    )
    assert (
        sentence(calibration).zh
        == f"{SCORE} 与人工标注比较：标注不足，无法判断（没有标注与评审过的回答相符）。"
    )
    assert (
        sentence(calibration).en
        == f"{SCORE} against human labels: insufficient (no label matches a judged answer)."
    )

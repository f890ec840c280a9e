"""Calibrations in reports: a note if they hold, a warning if they are stale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hengwen.judges import Calibration, calibrate
from hengwen.judges.calibration import JudgedAnswer
from hengwen.records import Label
from hengwen.reports import build_view, to_html, to_json, to_markdown
from hengwen.reports.view.calibrations import sentence, with_calibrations

SCORE = "lyric_craft.level"


@pytest.fixture
def view(data):
    return build_view(data)


def calibration_of(view, **changes) -> Calibration:
    """Of the first task's judge, on 40 answers."""
    task = view.tasks[0]
    score = next(score for score in task.scores if score.name == SCORE)
    (signature,) = {s for cell in score.cells if cell for s in cell.signatures}
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


def test_every_format_but_the_json_says_it(view) -> None:
    calibration = calibration_of(view)
    calibrated = with_calibrations(view, [calibration])
    kappa = f"{calibration.agreement.quadratic_kappa.value:.2f}"
    for text in (to_html(calibrated), to_markdown(calibrated)):
        assert "against human labels: certified" in text
        assert f"kappa {kappa}" in text
    assert calibrated.warnings == view.warnings
    assert to_json(calibrated) == to_json(view)


def test_a_stale_one_is_a_warning_and_says_nothing_of_agreement(view) -> None:
    calibrated = with_calibrations(view, [calibration_of(view, signature="other|v:1")])
    assert any("the calibration is stale: signature: other" in warning for warning in calibrated.warnings)
    assert "against human labels" not in to_html(calibrated)
    assert "the calibration is stale" in to_html(calibrated)


def test_what_the_report_does_not_show_is_passed_over(view) -> None:
    calibrated = with_calibrations(view, [calibration_of(view, task="elsewhere")])
    assert (calibrated.tasks, calibrated.warnings) == (view.tasks, view.warnings)
    assert with_calibrations(view, []) == view


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
def test_the_summary_says_whether_the_judge_is_certified(view, changes, ending) -> None:
    calibrated = with_calibrations(view, [calibration_of(view, **changes)])
    for before, after in zip(view.findings, calibrated.findings, strict=True):
        assert after.en == before.en + (ending if before.address.endswith(SCORE) else "")
    assert sum(finding.address.endswith(SCORE) for finding in view.findings) == 1


def test_without_a_kappa_the_reason_is_given(view) -> None:
    calibration = calibration_of(view, agreement=None, decision="insufficient", reasons=("no label",))
    assert sentence(calibration).zh == f"{SCORE} 与人工标注比较：证据不足。"
    assert sentence(calibration).en == f"{SCORE} against human labels: insufficient (no label)."

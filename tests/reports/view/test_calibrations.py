"""Calibrations in reports: said where they hold, a warning where they are stale."""

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
    score = next(one for one in task.scores if one.name == SCORE)
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
    found = calibrate(labels, answers, score=SCORE, levels=[0, 0.25, 0.5, 0.75, 1], resamples=100)
    return replace(found, **changes)


def test_every_format_but_the_json_says_it(view) -> None:
    found = calibration_of(view)
    said = with_calibrations(view, [found])
    kappa = f"{found.agreement.quadratic_kappa.value:.2f}"
    for text in (to_html(said), to_markdown(said)):
        assert "与人比较：可信" in text
        assert f"kappa {kappa}" in text
    assert said.warnings == view.warnings
    assert to_json(said) == to_json(view)


def test_a_stale_one_is_a_warning_and_says_nothing_of_agreement(view) -> None:
    said = with_calibrations(view, [calibration_of(view, signature="other|v:1")])
    assert any("校准已过期 the calibration is stale: signature: other" in one for one in said.warnings)
    assert "与人比较" not in to_html(said)
    assert "the calibration is stale" in to_html(said)


def test_what_the_report_does_not_show_is_passed_over(view) -> None:
    assert with_calibrations(view, [calibration_of(view, task="elsewhere")]) == view
    assert with_calibrations(view, []) == view


def test_without_a_kappa_the_reason_is_said(view) -> None:
    found = calibration_of(view, agreement=None, decision="insufficient", reasons=("no label",))
    assert sentence(found) == f"{SCORE} 与人比较：证据不足。 Against people: insufficient (no label)."

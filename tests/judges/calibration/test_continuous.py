"""A judge on a scale without levels: what is calibrated, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest

from hengwen.judges import calibrate
from hengwen.judges.calibration import JudgedAnswer, Remark
from hengwen.records import Label


def continuous(count: int) -> tuple[list[Label], list[JudgedAnswer]]:
    """Return labels and a judge's values of any size between 0 and 100."""
    rng = np.random.default_rng(1)
    human = rng.uniform(0, 100, count)
    judge = np.clip(human + rng.normal(0, 10, count), 0, 100)
    answers = [JudgedAnswer(task="t", id=str(item), value=float(judge[item])) for item in range(count)]
    labels = [
        Label(task="t", id=str(item), score="s", value=float(human[item])) for item in range(count // 2)
    ]
    return labels, answers


def test_a_judge_without_levels_is_calibrated_and_its_mean_corrected() -> None:
    labels, answers = continuous(200)
    result = calibrate(labels, answers, score="s", levels=[0, 100], is_continuous=True)
    assert (result.decision, result.warnings) == ("certified", ())
    corrected = result.means[0].corrected
    assert corrected is not None
    assert (corrected.n, corrected.others, corrected.method) == (100, 100, "ppi")
    assert corrected.low < np.mean([label.value for label in labels]) < corrected.high


@pytest.mark.slow
def test_very_many_different_values_are_rounded_and_this_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, answers = continuous(400)
    results = []
    for limit in (200, 199):
        monkeypatch.setattr("hengwen.judges.calibration.joining.MAX_PAIRS", limit)
        results.append(calibrate(labels, answers, score="s", levels=[0, 100], is_continuous=True))
    exact, coarse = results
    remark = Remark("rounded", {"steps": 50})
    assert [remark in result.warnings for result in results] == [False, True]
    assert 0 < abs(coarse.kappa.value - exact.kappa.value) < 0.01

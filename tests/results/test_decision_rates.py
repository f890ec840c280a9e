"""How often decisions are right: falls from the peak, and whether the best checkpoint is on the list."""

from __future__ import annotations

import pytest
from quick_tests import uncorrected
from tests.results.simulations import DECLINE, share_fallen, share_rejected, share_with_best, verdicts_on_lost

from hengwen.results import comparisons

SAMPLES = 20


@pytest.mark.slow
def test_a_slow_decline_after_a_peak_is_told() -> None:
    assert share_fallen(SAMPLES, "normal", DECLINE, 26) >= 0.4, "about .68 of 1,000 cases"


@pytest.mark.slow
def test_equal_checkpoints_have_not_fallen(monkeypatch: pytest.MonkeyPatch) -> None:
    equal = [0.0] * 16
    assert share_rejected(50, "normal", equal, 26, scores=1) <= 0.04
    assert share_fallen(SAMPLES, "levels", equal[:4], 12) <= 0.05, "at most .035 of 1,000 cases"
    monkeypatch.setattr(comparisons, "step_down", uncorrected)
    assert share_rejected(50, "normal", equal, 26, scores=1) >= 0.1


@pytest.mark.slow
def test_the_best_checkpoint_is_among_those_not_worse() -> None:
    assert share_with_best(SAMPLES, "ceiling", DECLINE[1:5], 12) >= 0.8, "at least .915 of 1,000 cases"


@pytest.mark.slow
def test_equal_checkpoints_of_which_one_lost_its_bad_answers_have_no_verdict() -> None:
    lost, tested, named = verdicts_on_lost(40, 100, odds=0.6)
    assert 0.15 <= lost <= 0.25
    assert tested == 0, "0 of 300 cases"
    assert named >= 0.08, "without the rule, .21 of 300 cases"

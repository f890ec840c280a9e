"""How often decisions are right: falls from the peak, and whether the best checkpoint is on the list."""

from __future__ import annotations

import pytest
from tests.results.simulations import DECLINE, share_fallen, share_with_best

SAMPLES = 20


@pytest.mark.slow
def test_a_slow_decline_after_a_peak_is_told() -> None:
    assert share_fallen(SAMPLES, "normal", DECLINE, 26) >= 0.4, "about .68 of 1,000 cases"


@pytest.mark.slow
def test_equal_checkpoints_have_not_fallen() -> None:
    assert share_fallen(SAMPLES, "levels", [0.0] * 4, 12) <= 0.15, "at most .035 of 1,000 cases"


@pytest.mark.slow
def test_the_best_checkpoint_is_among_those_not_worse() -> None:
    assert share_with_best(SAMPLES, "ceiling", DECLINE[1:5], 12) >= 0.8, "at least .915 of 1,000 cases"

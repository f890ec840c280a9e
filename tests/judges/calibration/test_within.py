"""Agreement within checkpoints: a certificate does not come from the spread between them."""

from __future__ import annotations

import numpy as np
import pytest

from hengwen.judges.calibration.agreement import measure_agreement, measure_within
from hengwen.judges.calibration.certify import decide

from .simulations import DESIGNS, LEVELS, Design, rated_pairs, rates

OPTIONS = {"levels": LEVELS, "resamples": 200, "confidence": 0.95, "seed": 0}


def kappa_by_hand(human, judge):
    """Sum the distances in each checkpoint: of pairs, and of each human value to all other judge values."""
    observed = expected = 0.0
    for people, values in zip(human.T, judge.T, strict=True):
        n = len(people)
        observed += sum((people[i] - values[i]) ** 2 for i in range(n))
        others = sum((people[i] - values[k]) ** 2 for i in range(n) for k in range(n) if i != k)
        expected += others / (n - 1)
    return 1 - observed / expected


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_kappa_within_is_that_by_hand(design) -> None:
    human, judge = design.draw(np.random.default_rng(1))
    within = measure_within(rated_pairs(human, judge), **OPTIONS)
    assert within.quadratic_kappa.value == pytest.approx(kappa_by_hand(human, judge), abs=1e-12)
    assert [item.n for item in within.checkpoints] == [design.prompts] * design.checkpoints
    first = within.checkpoints[0]
    levels = np.array(LEVELS)
    assert first.bias.value == pytest.approx((levels[judge[:, 0]] - levels[human[:, 0]]).mean())
    alone = measure_agreement(levels[human[:, 0]], levels[judge[:, 0]], levels=LEVELS)
    assert first.quadratic_kappa.value == alone.quadratic_kappa.value


def test_moving_a_whole_checkpoint_changes_kappa_of_all_answers_only() -> None:
    human, judge = Design(20, 2, 0.6, 0.0).draw(np.random.default_rng(2))
    human, judge = human.clip(1, 2), judge.clip(1, 2)
    shift = np.array([-1, 2])
    apart = human + shift, judge + shift
    near, far = (measure_within(rated_pairs(*values), **OPTIONS) for values in ((human, judge), apart))
    assert far.quadratic_kappa == near.quadratic_kappa
    near_all, far_all = (_pooled(*values) for values in ((human, judge), apart))
    assert far_all > near_all + 0.3


def _pooled(human, judge):
    levels = np.array(LEVELS)
    pairs = levels[human].ravel(), levels[judge].ravel()
    return measure_agreement(*pairs, levels=LEVELS, resamples=2).quadratic_kappa.value


def test_a_judge_that_only_sees_which_checkpoint_is_bad_is_not_certified() -> None:
    rng = np.random.default_rng(5)
    human = np.concatenate([rng.integers(0, 2, (30, 1)), rng.integers(3, 5, (30, 1))], axis=1)
    judge = np.concatenate([rng.integers(0, 2, (30, 1)), rng.integers(3, 5, (30, 1))], axis=1)
    pairs = rated_pairs(human, judge)
    agreement = measure_agreement(
        [pair.human for pair in pairs], [pair.value for pair in pairs], levels=LEVELS, resamples=200
    )
    within = measure_within(pairs, **OPTIONS)
    assert agreement.quadratic_kappa.low > 0.8
    decision, reasons = decide(agreement, within, 0.5)
    assert (decision, [reason.code for reason in reasons]) == ("not certified", ["within_kappa", "kappa"])
    assert decide(agreement, None, 0.5)[0] == "certified"


def test_one_checkpoint_has_no_agreement_within() -> None:
    human, judge = Design(20, 1, 0.6, 0.0).draw(np.random.default_rng(2))
    assert measure_within(rated_pairs(human, judge), **OPTIONS) is None


def test_checkpoints_with_one_label_each_have_no_kappa_within() -> None:
    pairs = rated_pairs(np.array([[1, 2, 3]]), np.array([[1, 3, 3]]))
    within = measure_within(pairs, **OPTIONS)
    assert within.quadratic_kappa.value is None
    agreement = measure_agreement([0.25, 0.5, 0.75] * 10, [0.25, 0.75, 0.75] * 10, levels=LEVELS)
    decision, reasons = decide(agreement, within, 0.5)
    assert (decision, reasons[-1].code) == ("insufficient", "undefined_within")


@pytest.mark.slow
def test_the_interval_covers_and_blind_judges_are_not_certified() -> None:
    blind = rates(Design(12, 4, 0.0, 1.5), 150)
    assert blind["coverage"] >= 0.88
    assert blind["within"] == 0
    halfway = rates(Design(60, 2, 0.5, 1.0), 60)
    assert halfway["within"] <= 0.02
    assert halfway["pooled"] >= 0.9

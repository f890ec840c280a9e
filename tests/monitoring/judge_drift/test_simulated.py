"""How often each verdict is given, in simulations with fixed seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rows import each_row

from .simulations import CASES, Case, by_length, rejudged, share_of_wrong_names, verdict_shares

pytestmark = pytest.mark.slow

SAMPLES = 250
EACH_CASE = pytest.mark.parametrize(("case", "right"), CASES.values(), ids=CASES)


@pytest.fixture(autouse=True)
def few_sign_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw 399 sign patterns instead of 9,999, so that a simulation takes seconds."""
    monkeypatch.setattr("hengwen.stats.paired.RESAMPLES", 399)
    monkeypatch.setattr("hengwen.monitoring.judge_drift.effects.DRAWS", 399)


@EACH_CASE
def test_sixty_prompts_judged_again_name_a_drift_in_95_of_100(case: Case, right: str) -> None:
    shares = verdict_shares(case, 60, SAMPLES)
    assert shares[right] >= 0.95
    assert share_of_wrong_names(shares, right) <= 0.02


@pytest.mark.parametrize("anchors", [250, 300])
@EACH_CASE
def test_anchors_name_a_drift_in_95_of_100(case: Case, right: str, anchors: int) -> None:
    shares = verdict_shares(case, 150, SAMPLES, anchors=anchors)
    assert shares[right] >= 0.95
    assert share_of_wrong_names(shares, right) <= 0.02


@EACH_CASE
def test_a_less_certain_judge_needs_more_prompts_and_names_as_few_wrong_ones(case: Case, right: str) -> None:
    noisy = replace(case, flips=0.2)
    shares = verdict_shares(noisy, 60, SAMPLES)
    assert shares[right] >= 0.86
    assert share_of_wrong_names(shares, right) <= 0.02
    assert verdict_shares(noisy, 120, 200)[right] >= 0.95


@each_row("drop", [0.2, 0.4])
@each_row("prompts", [15, 60, 150])
def test_a_fallen_model_is_hardly_ever_called_stable(prompts: int, drop: float) -> None:
    fallen = Case(model=drop)  # one level on 20 % of the answers is a fall of .046
    assert verdict_shares(fallen, prompts, 150).get("stable", 0) <= 0.05


def test_without_any_change_three_hundred_prompts_say_so() -> None:
    assert verdict_shares(Case(), 300, 200)["stable"] >= 0.87


@each_row("guessed", [0.5, 1.0])
def test_a_judge_that_reads_the_answers_no_more_is_named_and_never_stable(guessed: float) -> None:
    shares = verdict_shares(Case(guessed=guessed), 60, 200)
    assert shares.get("stable", 0) <= 0.05
    assert shares.get("judge drifted", 0) + shares.get("both", 0) >= 0.9


def test_a_judge_that_favours_length_is_not_taken_for_a_better_model() -> None:
    verdicts = [by_length(60, seed).verdict for seed in range(150)]
    assert np.mean([verdict in ("model drifted", "both") for verdict in verdicts]) <= 0.06


def test_a_fallen_model_that_writes_longer_is_still_named() -> None:
    verdicts = [by_length(60, seed, favours=0, model=0.4).verdict for seed in range(150)]
    assert np.mean([verdict == "model drifted" for verdict in verdicts]) >= 0.8


def test_an_unchanged_judge_seldom_disagrees_with_itself() -> None:
    changed = [rejudged(Case(), 60, seed).consistency.has_changed(0.05) for seed in range(SAMPLES)]
    assert 0.01 <= np.mean(changed) <= 0.065


def test_an_unchanged_judge_is_accused_in_at_most_six_of_100() -> None:
    shares = verdict_shares(Case(), 60, SAMPLES)
    assert shares.get("judge drifted", 0) + shares.get("both", 0) <= 0.06
    assert share_of_wrong_names(shares, "stable") <= 0.12  # of the model, one in twenty


def test_a_judge_that_raises_three_answers_in_ten_is_named() -> None:
    assert verdict_shares(Case(judge=-0.3), 60, 200)["judge drifted"] >= 0.95


def test_an_old_judge_on_the_later_answers_tells_the_new_judge_from_the_model() -> None:
    verdicts = [by_length(60, seed, crossed=True).verdict for seed in range(150)]
    assert np.mean([verdict in ("model drifted", "both") for verdict in verdicts]) <= 0.05
    assert np.mean([verdict == "judge drifted" for verdict in verdicts]) >= 0.95


def test_an_old_judge_on_the_later_answers_sees_a_fall_that_a_new_judge_hides() -> None:
    fallen = [by_length(60, seed, crossed=True, model=0.35).verdict for seed in range(150)]
    assert np.mean([verdict in ("model drifted", "both") for verdict in fallen]) >= 0.6
    hidden = [by_length(60, seed, model=0.35).verdict for seed in range(150)]
    assert np.mean([verdict in ("model drifted", "both") for verdict in hidden]) <= 0.1

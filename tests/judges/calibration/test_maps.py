"""Calibration maps: their values, and their error on prompts that they were not fitted on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.judges.calibration import IsotonicMap, OrdinalMap, fit_maps

FIVE = [0.0, 0.25, 0.5, 0.75, 1.0]


def slow_isotonic(values: list[float], weights: list[float]) -> list[float]:
    """Pool the first pair that falls, until none does."""
    blocks = [[value, weight, 1] for value, weight in zip(values, weights, strict=True)]
    while True:
        falls = [i for i in range(len(blocks) - 1) if blocks[i][0] > blocks[i + 1][0]]
        if not falls:
            return [block[0] for block in blocks for _ in range(int(block[2]))]
        left, right = blocks[falls[0]], blocks.pop(falls[0] + 1)
        total = left[1] + right[1]
        left[:] = [(left[0] * left[1] + right[0] * right[1]) / total, total, left[2] + right[2]]


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(FIVE), st.sampled_from(FIVE)), min_size=1, max_size=25))
@settings(deadline=None, max_examples=80)
def test_the_isotonic_map_equals_pooling_by_hand(pairs) -> None:
    judge, human = (np.array(side) for side in zip(*pairs, strict=True))
    values = sorted(set(judge))
    means = [human[judge == value].mean() for value in values]
    counts = [(judge == value).sum() for value in values]
    fitted = IsotonicMap.fit(judge, human)
    assert fitted.judge == tuple(values)
    assert fitted.calibrated == pytest.approx(slow_isotonic(means, counts))


def test_values_between_are_interpolated_and_beyond_are_constant() -> None:
    fitted = IsotonicMap.fit([0.25, 0.75], [0.5, 1.0])
    assert fitted.predict([0, 0.25, 0.5, 0.75, 1]).tolist() == [0.5, 0.5, 0.75, 1, 1]


def test_the_ordinal_map_finds_the_model_that_made_the_labels() -> None:
    """Cumulative logits with known thresholds and slope."""
    rng = np.random.default_rng(2)
    judge = rng.choice(FIVE, 20_000)
    thresholds, slope = np.array([-2.5, -1.0, 0.5, 1.8]), 0.9
    latent = slope * (judge * 4 - 2) + rng.logistic(size=judge.size)
    human = np.array(FIVE)[np.searchsorted(thresholds, latent)]
    fitted = OrdinalMap.fit(judge, human, FIVE)
    assert fitted.thresholds == pytest.approx(thresholds, abs=0.08)
    assert fitted.slope == pytest.approx(slope, abs=0.04)
    assert fitted.predict(FIVE) == pytest.approx([human[judge == level].mean() for level in FIVE], abs=0.02)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from(FIVE), st.sampled_from(FIVE)), min_size=1, max_size=20),
    st.sampled_from([FIVE, [-1.0, 0.0, 0.5, 1.0, 3.0]]),
)
@settings(deadline=None, max_examples=40)
def test_ordinal_probabilities_are_probabilities_whatever_the_labels(pairs, levels) -> None:
    judge, human = zip(*pairs, strict=True)
    fitted = OrdinalMap.fit(judge, human, levels)
    chances = fitted.probabilities(levels)
    assert (chances >= 0).all()
    assert chances.sum(axis=1) == pytest.approx(1)
    assert all(levels[0] <= value <= levels[-1] for value in fitted.predict([-5, *levels, 5]))
    assert np.isfinite(fitted.thresholds).all()


@pytest.mark.parametrize("levels", [[0, 1], [0, 0.5, 1], [0, 0.25, 0.5, 0.75, 1]])
def test_an_ordinal_map_is_found_to_ten_digits_so_that_machines_agree(levels) -> None:
    rng = np.random.default_rng(len(levels))
    human = rng.choice(levels, 60)
    judge = np.clip(human + rng.normal(0, 0.4, 60), 0, 1)
    fitted = OrdinalMap.fit(judge, human, levels)
    mirrored = OrdinalMap.fit(1 - judge, 1 - human, levels)  # the same likelihood, on another path
    assert mirrored.slope == pytest.approx(fitted.slope, rel=1e-10)
    assert mirrored.thresholds == pytest.approx([-value for value in reversed(fitted.thresholds)], rel=1e-10)


def test_a_label_between_two_levels_counts_for_both() -> None:
    halves = OrdinalMap.fit([0, 1], [0.5, 0.5], [0, 1])
    both = OrdinalMap.fit([0, 0, 1, 1], [0, 1, 0, 1], [0, 1])
    assert halves.predict([0, 1]) == pytest.approx(both.predict([0, 1]), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [0, 1], ids=["isotonic", "ordinal"])
def test_a_generous_judge_is_corrected_on_other_prompts(draw, kind: int) -> None:
    human, judge = draw(np.random.default_rng(0), 40, 3, rho=0.8, icc=0.3, shift=1.0)
    names = np.repeat(np.arange(40), 3).astype(str).tolist()
    report = fit_maps(judge.ravel(), human.ravel(), levels=FIVE, clusters=names)[kind]
    assert report.raw_error == pytest.approx(np.mean((judge - human) ** 2))
    assert report.helps is True
    assert report.gain.value == pytest.approx(report.raw_error - report.error)
    assert [level for level, _ in report.levels] == FIVE
    assert all(value <= level + 0.02 for level, value in report.levels[2:])


@pytest.mark.slow
def test_a_map_that_adds_error_has_a_negative_gain() -> None:
    """The judge is always right: a map can only lose."""
    human = np.random.default_rng(1).choice(FIVE, 40)
    isotonic, ordinal = fit_maps(human, human, levels=FIVE, seed=3)
    assert isotonic.gain.value <= 0
    assert (isotonic.raw_error, ordinal.raw_error) == (0, 0)
    assert ordinal.gain.value == -ordinal.error < 0
    assert ordinal.helps is False


def test_the_error_is_that_of_maps_fitted_on_other_prompts() -> None:
    """Each prompt has its own judge's value: a map that saw it would be exact, one that did not is not."""
    judge = np.repeat(np.linspace(0, 1, 10), 3)
    human = np.repeat([0, 1] * 5, 3).astype(float)
    names = np.repeat(np.arange(10), 3).astype(str).tolist()
    together = fit_maps(judge, human, levels=[0, 1], clusters=names)[0]
    inside = np.mean((IsotonicMap.fit(judge, human).predict(judge) - human) ** 2)
    assert together.error > inside
    assert together.map == IsotonicMap.fit(judge, human)
    assert fit_maps(judge, human, levels=[0, 1], clusters=names, seed=0)[0] == together


@each_row(
    ("n", "options", "message"),
    [
        (29, {}, "a calibration map needs at least 30 labels, got 29"),
        (30, {"clusters": ["a", "b", "c"] * 10}, "5 folds need at least as many prompts, got 3"),
        (30, {"folds": 1}, "1 folds need"),
    ],
)
def test_too_few_labels_or_prompts_are_refused(n: int, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_maps([0.5] * n, [0.5] * n, levels=FIVE, **options)


@each_row(
    ("arguments", "options", "message"),
    [
        (([0.5] * 30, [0.5] * 29), {}, "a map needs paired values, got 30 and 29"),
        (([0.5] * 30, [0.5] * 30), {"clusters": ["a"] * 40}, "30 pairs but 40 clusters"),
        (([0.5] * 29 + [float("nan")], [0.5] * 30), {}, "a map needs finite values"),
    ],
)
def test_values_that_do_not_belong_together_are_refused(arguments, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_maps(*arguments, levels=FIVE, **options)


@pytest.mark.slow
def test_a_constant_judge_maps_to_the_mean_label() -> None:
    human = [0.0, 0.5, 1.0] * 20
    for report in fit_maps([0.75] * 60, human, levels=FIVE):
        assert report.map.predict([0.75])[0] == pytest.approx(0.5, abs=0.01)

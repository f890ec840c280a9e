"""How often each question is answered wrongly, by simulation with fixed seeds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from quick_tests import quick_tests
from scipy import stats

from hengwen.monitoring.drift.answers import DriftTests, corrected
from hengwen.monitoring.drift.differences import DifferenceTests, difference_answers
from hengwen.monitoring.drift.series import TestedSeries
from hengwen.stats.power import alpha_at_look
from hengwen.stats.step_down import FamilyScore, step_down

from .conftest import growing_series

pytestmark = pytest.mark.slow
Values = NDArray[np.float64]
Make = Callable[..., TestedSeries]
Draw = Callable[..., Values]


def drift_at_any_look(values: Values) -> bool:
    """Return whether the second question is answered by "drift" at any of 20 looks, from 4 checkpoints on."""
    for look, series in enumerate(growing_series(values), start=-2):
        if look < 1:
            continue
        question = DriftTests.of(series, order_known=True, mean_variance=series.mean_variance())
        (adjusted,) = corrected([question.tests()])
        if question.answer(adjusted, alpha_at_look(look)) == "drift":
            return True
    return False


@pytest.mark.parametrize(
    ("shares", "prompts", "repeats", "jitter"), [("skew", 12, 1, 0.0), ("ceiling", 30, 3, 0.15)]
)
def test_twenty_looks_give_a_false_drift_in_at_most_six_of_a_hundred_series(
    levels: Draw, shares: str, prompts: int, repeats: int, jitter: float
) -> None:
    alarms = [
        drift_at_any_look(levels(seed, (prompts, 23, repeats), shares, jitter=jitter)) for seed in range(60)
    ]
    assert np.mean(alarms) <= 0.06


def differ_at_any_look(series_of: Make, values: Values) -> bool:
    """Return whether the first question is answered by "differ" at any of 20 looks, from 2 checkpoints on."""
    return any(differ_at_look(series_of, values[:, : look + 1], alpha_at_look(look)) for look in range(1, 21))


def differ_at_look(series_of: Make, values: Values, alpha: float) -> bool:
    """Return the answer, without the exact tests where t tests and a few flips show no difference near it."""
    means = values.mean(axis=2)
    pairs = list(combinations(range(means.shape[1]), 2))
    newest = means[:, -1] - means[:, :-1].mean(axis=1)
    changes = np.array([*(means[:, later] - means[:, earlier] for earlier, later in pairs), newest])
    errors = changes.std(axis=1, ddof=1) / np.sqrt(len(means))
    t = np.divide(np.abs(changes.mean(axis=1)), errors, out=np.zeros_like(errors), where=errors > 0)
    near = stats.t.isf(2.5 * alpha, len(means) - 1)
    if t.max() < near:
        return False
    names = [str(row) for row in range(len(means))]
    with quick_tests():
        family = step_down([FamilyScore(task="t", clusters=names, values=means, pairs=pairs)])
    if family.p_adjusted.min() > max(0.05, 5 * alpha) and t[-1] < near:
        return False
    series = series_of(values)
    question = DifferenceTests.of(series, order_known=True, mean_variance=series.mean_variance())
    with quick_tests():
        return difference_answers([question], alpha)[0].differs == "differ"


def test_twenty_looks_at_equal_checkpoints_differ_in_at_most_six_of_a_hundred_series(
    levels: Draw, series_of: Make
) -> None:
    alarms = [differ_at_any_look(series_of, levels(seed, (24, 21, 1), "skew")) for seed in range(25)]
    assert np.mean(alarms) <= 0.06


@pytest.mark.parametrize(("shares", "checkpoints"), [("skew", 2), ("ceiling", 6)])
def test_equal_checkpoints_differ_in_at_most_six_of_a_hundred_reports(
    levels: Draw, series_of: Make, shares: str, checkpoints: int
) -> None:
    answers = [first_look(series_of, levels(seed, (30, checkpoints, 3), shares))[0] for seed in range(300)]
    assert answers.count("differ") <= 0.06 * 300


def first_look(series_of: Make, *values: Values) -> tuple[str, str]:
    """Return both answers for the first of some scores, at the first look."""
    differences, drifts = [], []
    for item in values:
        series = series_of(item)
        rest = {"order_known": True, "mean_variance": series.mean_variance()}
        differences.append(DifferenceTests.of(series, **rest))
        drifts.append(DriftTests.of(series, **rest))
    alpha = alpha_at_look(1)
    drift = corrected([tests.tests() for tests in drifts])
    with quick_tests():
        return difference_answers(differences, alpha)[0].differs, drifts[0].answer(drift[0], alpha)


@pytest.mark.parametrize("checkpoints", [5, 8, 20])
def test_checkpoints_that_jitter_differ_and_never_drift_in_94_of_a_hundred_cases(
    levels: Draw, series_of: Make, checkpoints: int
) -> None:
    answers = [first_look(series_of, levels(seed, (100, checkpoints, 3), jitter=0.15)) for seed in range(60)]
    assert sum(drift == "drift" for _, drift in answers) <= 4
    differ = sum(differ == "differ" for differ, _ in answers)
    assert differ >= {5: 42, 8: 51, 20: 57}[checkpoints]


def test_a_fall_of_all_checkpoints_is_called_drift_the_more_often_the_more_there_are(
    levels: Draw, series_of: Make
) -> None:
    drifts = []
    for checkpoints in (4, 6, 8, 12):
        cases = [levels(seed, (30, checkpoints, 3), jitter=0.1, fall=0.8) for seed in range(60)]
        drifts.append(sum(first_look(series_of, case)[1] == "drift" for case in cases))
    assert drifts == sorted(drifts)
    assert drifts[-1] >= 50


def test_the_drift_of_five_scores_has_one_familywise_error(levels: Draw, series_of: Make) -> None:
    alarms = []
    for seed in range(100):
        several = [series_of(levels(5 * seed + part, (30, 8, 3), jitter=0.3)) for part in range(5)]
        drifts = [
            DriftTests.of(item, order_known=True, mean_variance=item.mean_variance()) for item in several
        ]
        adjusted = corrected([tests.tests() for tests in drifts])
        alpha = alpha_at_look(1)
        alarms.append(any(t.answer(p, alpha) == "drift" for t, p in zip(drifts, adjusted, strict=True)))
    assert np.mean(alarms) <= 0.06

"""The part of a model's change that a judge's change by length explains, beside plain least squares."""

from __future__ import annotations

import numpy as np
import pytest

from hengwen.monitoring.judge_drift.effects import LengthAdjustment, RejudgedAnswer, length_adjustment

RNG = np.random.default_rng(1)
LENGTHS = RNG.integers(50, 400, (2, 12, 2))
THEN, NOISE = RNG.random((12, 2)), RNG.normal(0, 0.02, (2, 12, 2))
AGAIN = THEN + 0.001 * LENGTHS[0] + NOISE[0]
NOW = THEN + 0.001 * LENGTHS[1] + NOISE[1]


def answers(values, lengths, old=None) -> list[RejudgedAnswer]:
    return [
        RejudgedAnswer(
            prompt=f"p{prompt}",
            cluster=f"c{prompt // 2}",
            length=int(lengths[prompt, repeat]),
            new=values[prompt, repeat],
            old=None if old is None else old[prompt, repeat],
        )
        for prompt in range(len(values))
        for repeat in (0, 1)
    ]


def adjusted(kept: slice | np.ndarray = slice(None)) -> LengthAdjustment | None:
    return length_adjustment(
        answers(AGAIN[kept], LENGTHS[0][kept], THEN[kept]), answers(NOW[kept], LENGTHS[1][kept])
    )


def oracle(kept: np.ndarray) -> float:
    """Return the remaining change by ``numpy.polyfit``."""
    slope = np.polyfit(LENGTHS[0][kept].ravel(), (AGAIN - THEN)[kept].ravel(), 1)[0]
    longer = (LENGTHS[1] - LENGTHS[0])[kept].mean()
    return float((NOW - AGAIN)[kept].mean() - slope * longer)


def test_the_rest_and_its_error_are_those_of_least_squares_without_each_cluster() -> None:
    from scipy import stats

    result = adjusted()
    everything = np.arange(12)
    assert result.slope == pytest.approx(0.1, rel=0.1)
    assert result.remaining == pytest.approx(oracle(everything))
    left = np.array([oracle(everything[everything // 2 != cluster]) for cluster in range(6)])
    error = np.sqrt(5 / 6 * np.square(left - left.mean()).sum())
    assert result.p == pytest.approx(2 * stats.t.sf(abs(result.remaining) / error, 5))
    assert result.lengths == pytest.approx((LENGTHS[0].mean(), LENGTHS[1].mean()))


def test_equal_lengths_and_few_prompts_tell_nothing() -> None:
    same = np.full((12, 2), 100)
    assert length_adjustment(answers(AGAIN, same, THEN), answers(NOW, LENGTHS[1])) is None
    assert adjusted(slice(4)) is None
    assert length_adjustment([], []) is None

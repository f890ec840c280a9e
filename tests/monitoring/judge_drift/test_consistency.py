"""Old verdicts beside two new ones: the exchange of passes and the kappa of levels, by slow oracles."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from hengwen.monitoring.judge_drift.effects import judge_consistency

RNG = np.random.default_rng(0)
PASSES = RNG.integers(0, 5, (3, 24)) / 4
CLUSTERS = [f"p{index // 4}" for index in range(24)]


def oracle_kappa(old, new) -> float:
    """Return linear kappa, by the mean distance over all pairs of answers."""
    observed = np.mean([abs(old - values).mean() for values in new])
    expected = np.mean([abs(old[:, None] - values).mean() for values in new])
    return 1 - observed / expected


def test_kappa_and_its_jackknife_are_those_of_all_pairs() -> None:
    old, *new = PASSES
    result = judge_consistency(old, new, CLUSTERS)
    assert result.kappa == pytest.approx(oracle_kappa(old, new))
    assert result.floor == pytest.approx(oracle_kappa(new[0], new[1:]))
    names = np.array(CLUSTERS)
    left = [
        oracle_kappa(old[names != name], [values[names != name] for values in new])
        for name in sorted(set(CLUSTERS))
    ]
    error = np.sqrt(5 / 6 * np.square(np.array(left) - np.mean(left)).sum())
    half = 2.5705818 * error  # t with 5 degrees of freedom
    assert result.kappa_interval == pytest.approx((max(-1, result.kappa - half), min(1, result.kappa + half)))


def test_the_p_value_is_that_of_all_exchanges_of_passes() -> None:
    def excess(chosen: tuple[int, ...]) -> float:
        total = 0.0
        for index, name in enumerate(CLUSTERS):
            then = chosen[int(name[1:])]
            first, second = (k for k in range(3) if k != then)
            value = PASSES[:, index]
            near, far = abs(value[then] - value[first]), abs(value[then] - value[second])
            total += (near + far) / 2 - abs(value[first] - value[second])
        return total / len(CLUSTERS)

    result = judge_consistency(PASSES[0], PASSES[1:], CLUSTERS)
    orders = np.array([excess(chosen) for chosen in product(range(3), repeat=6)])
    assert result.excess == pytest.approx(excess((0,) * 6))
    above, below = (orders >= result.excess - 1e-12).mean(), (orders <= result.excess + 1e-12).mean()
    assert result.p == pytest.approx(min(1, 2 * min(above, below)), abs=0.02)


def test_verdicts_that_are_all_equal_say_nothing() -> None:
    result = judge_consistency([0.5] * 6, [[0.5] * 6] * 2, CLUSTERS[:6])
    assert (result.kappa, result.floor, result.excess, result.p) == (None, None, 0.0, 1.0)
    assert not result.is_stable(1.0)
    assert not result.has_changed(0.05)


def test_one_new_verdict_has_no_noise_floor() -> None:
    result = judge_consistency(PASSES[0], PASSES[:1], CLUSTERS)
    assert (result.kappa, result.floor, result.excess, result.p) == (1.0, None, None, None)

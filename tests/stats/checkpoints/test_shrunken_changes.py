"""Changes of single prompts, shrunken by the noise of their repeats."""

from __future__ import annotations

import numpy as np
import pytest

from hengwen.stats.checkpoints import shrink_changes


def test_a_noisy_change_is_drawn_to_the_mean_more_than_a_certain_one() -> None:
    result = shrink_changes([1.0, 1.0, -1.0, -1.0], [0.01, 1.0, 0.01, 1.0])
    assert result.changes[0] > result.changes[1] > 0 > result.changes[3] > result.changes[2]


def test_without_noise_changes_stay_and_without_true_variance_all_are_the_mean() -> None:
    assert shrink_changes([0.5, -0.5, 0.2], [0.0] * 3).changes == pytest.approx((0.5, -0.5, 0.2))
    result = shrink_changes([0.1, 0.2, 0.3], [5.0] * 3)
    assert (result.true_variance, result.changes) == (0.0, pytest.approx((0.2, 0.2, 0.2)))
    assert shrink_changes([0.3], [0.1]).changes == (0.3,)
    assert shrink_changes([0.3, 0.3], [0.0, 0.0]).changes == (0.3, 0.3)


def test_the_share_of_a_change_is_that_of_the_formula() -> None:
    rng = np.random.default_rng(0)
    changes, repeats, sigma = rng.normal(0, 1, 40), rng.integers(1, 6, 40), 0.3
    result = shrink_changes(changes, 2 * sigma / repeats)
    tau = changes.var(ddof=1) - (2 * sigma / repeats).mean()
    assert result.true_variance == pytest.approx(tau)
    shares = tau / (tau + 2 * sigma / repeats)
    assert result.changes == pytest.approx(changes.mean() + shares * (changes - changes.mean()))


def test_shrunken_changes_are_nearer_to_the_true_ones() -> None:
    rng = np.random.default_rng(1)
    true, noise = rng.normal(0, 0.3, 200), rng.choice([0.02, 0.5], 200)
    observed = true + rng.normal(0, np.sqrt(noise))
    shrunken = np.array(shrink_changes(observed, noise).changes)
    assert np.square(shrunken - true).sum() < 0.5 * np.square(observed - true).sum()

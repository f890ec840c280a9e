"""Weights of prompts by precision."""

from __future__ import annotations

import numpy as np
import pytest

from hengwen.stats.mean_interval import precision_weights


def test_they_are_the_inverse_variance_with_a_mean_of_one() -> None:
    differences, repeats = np.array([0.0, 1.0, -1.0, 2.0]), np.array([1, 2, 4, 4])
    tau = differences.var(ddof=1) - np.mean(2 * 0.3 / repeats)
    expected = 1 / (tau + 2 * 0.3 / repeats)
    assert precision_weights(differences, repeats, 0.3) == pytest.approx(expected / expected.mean())


def test_prompts_whose_differences_are_all_noise_count_by_their_repeats() -> None:
    assert precision_weights([0.1, 0.1], [1, 3], 5.0) == pytest.approx([0.5, 1.5])
    assert precision_weights([0.1], [3], 5.0) == pytest.approx([1.0])


def test_without_any_variance_all_prompts_count_alike() -> None:
    assert precision_weights([0.1, 0.1], [1, 3], 0.0).tolist() == [1.0, 1.0]


def test_equal_repeats_give_equal_weights() -> None:
    assert precision_weights([0.0, 0.4, 0.9], [2, 2, 2], 0.2) == pytest.approx([1.0, 1.0, 1.0])

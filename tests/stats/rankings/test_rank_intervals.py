from __future__ import annotations

import numpy as np
import pytest
from rows import each_row
from scipy.stats import kendalltau

from hengwen.stats.rankings.pair_models import rank_correlation, rank_intervals, ranks_of


def test_equal_scores_share_the_better_rank() -> None:
    assert ranks_of(np.array([3.0, 5.0, 3.0, 1.0])).tolist() == [2, 1, 2, 4]


def test_errors_of_rounding_are_no_differences() -> None:
    scores = np.array([0.3, 0.1 + 0.2, 0.0])
    assert ranks_of(scores).tolist() == [1, 1, 3]
    assert rank_intervals(scores, np.tile(scores, (20, 1))).tolist() == [[1, 2], [1, 2], [3, 3]]
    assert rank_correlation(scores, np.array([2.0, 2.0, 1.0])) == pytest.approx(1.0)


def test_ranks_of_close_scores_overlap_and_far_scores_do_not() -> None:
    scores = np.array([10.0, 0.1, 0.0, -10.0])
    resamples = scores + np.random.default_rng(0).normal(size=(500, 4))
    assert rank_intervals(scores, resamples).tolist() == [[1, 1], [2, 3], [2, 3], [4, 4]]


def test_an_item_of_another_group_may_have_any_rank() -> None:
    scores = np.array([10.0, -10.0, 0.0])
    resamples = scores + np.random.default_rng(0).normal(size=(500, 3))
    groups = np.array([0, 0, 1])
    assert rank_intervals(scores, resamples, groups=groups).tolist() == [[1, 2], [2, 3], [1, 3]]


def test_differences_without_variance_are_certain() -> None:
    scores = np.array([1.0, 1.0, 0.0])
    resamples = np.tile(scores, (20, 1))
    assert rank_intervals(scores, resamples).tolist() == [[1, 2], [1, 2], [3, 3]]


@pytest.mark.slow
def test_intervals_contain_the_true_rank_as_often_as_promised() -> None:
    rng = np.random.default_rng(1)
    truth = np.array([0.9, 0.6, 0.5, 0.3, 0.0])
    held = []
    for _ in range(300):
        scores = truth + rng.normal(scale=0.2, size=5)
        resamples = scores + rng.normal(scale=0.2, size=(200, 5))
        low, high = rank_intervals(scores, resamples, 0.9).T
        held.append((low <= np.arange(1, 6)) & (np.arange(1, 6) <= high))
    assert np.mean(held, axis=0).min() >= 0.88  # 0.9 less two standard errors


@each_row("seed", range(5))
def test_rank_correlation_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 4, (2, 10)).astype(float)
    assert rank_correlation(a, b) == pytest.approx(kendalltau(a, b).statistic)


def test_rank_correlation_of_equal_scores_is_not_defined() -> None:
    assert rank_correlation(np.ones(3), np.arange(3.0)) is None

"""The difference at equal length: an intercept, its jackknife, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row
from scipy import stats

from hengwen.stats.mean_interval import equal_length_difference


def test_it_is_the_intercept_of_scipy_with_a_jackknife_over_clusters() -> None:
    rng = np.random.default_rng(3)
    changes = rng.normal(0.2, 0.3, 24)
    differences = 0.1 + 0.5 * changes + rng.normal(0, 0.1, 24)
    clusters = [f"c{index // 2}" for index in range(24)]
    result = equal_length_difference(differences, changes, clusters)
    intercept = stats.linregress(changes, differences).intercept
    kept = [np.array([c != name for c in clusters]) for name in dict.fromkeys(clusters)]
    without = np.array([stats.linregress(changes[k], differences[k]).intercept for k in kept])
    error = np.sqrt(11 / 12 * np.square(without - intercept).sum())
    half = stats.t.ppf(0.975, 10) * error
    assert result.difference == pytest.approx(intercept)
    assert result.interval == pytest.approx((intercept - half, intercept + half))
    assert result.length_ratio == pytest.approx(np.exp(changes.mean()))


def test_a_checkpoint_that_only_writes_longer_is_not_better_at_equal_length() -> None:
    rng = np.random.default_rng(4)
    changes = rng.normal(0.4, 0.2, 40)
    differences = 0.5 * changes + rng.normal(0, 0.02, 40)
    result = equal_length_difference(differences, changes)
    assert result.interval[0] < 0 < result.interval[1]
    assert differences.mean() > 0.15


@each_row(
    ("differences", "changes", "reason"),
    [
        pytest.param([0.1] * 9, list(range(9)), "few prompts", id="nine prompts"),
        pytest.param([0.1] * 12, [0.5] * 12, "same ratio", id="one ratio"),
        pytest.param([0.1] * 12, [0.0] * 12, "same ratio", id="equal lengths"),
        pytest.param([0.1] * 12, [1.0] + [0.0] * 11, "same ratio", id="one answer of another length"),
    ],
)
def test_where_it_cannot_be_estimated_there_is_a_reason(
    differences: list[float], changes: list[float], reason: str
) -> None:
    result = equal_length_difference(differences, changes)
    assert (result.difference, result.interval, result.reason) == (None, None, reason)
    assert result.length_ratio >= 1


def test_clusters_of_very_unequal_size_leave_no_degree_of_freedom() -> None:
    changes = np.arange(200.0) % 7
    clusters = ["big"] * 191 + [str(index) for index in range(9)]
    result = equal_length_difference(changes * 0.1, changes, clusters)
    assert result.difference == pytest.approx(0, abs=1e-9)
    assert result.interval is None

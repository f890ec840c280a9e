"""Paired tests of a report: which pairs are tested, the family, and how often a report is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row
from scipy import stats

from hengwen.records import Scale
from hengwen.results.comparability import ComparabilityKey
from hengwen.results.comparisons import ScoreSeries, compare_checkpoints
from hengwen.stats.difference_interval import difference_interval


def score_series(*checkpoints: list[float], **changes: object) -> ScoreSeries:
    values = tuple({f"p{i}": value for i, value in enumerate(values)} for values in checkpoints)
    fields = {
        "address": "t/s",
        "values": values,
        "clusters": {},
        "coverages": (1.0,) * len(values),
        "signatures": ("s|v:1",) * len(values),
    }
    return ScoreSeries(**{**fields, **changes})


def test_neighbours_are_compared_and_the_last_with_the_first() -> None:
    pairs = [(c.earlier, c.later) for c in compare_checkpoints([score_series(*[[0.5] * 20] * 4)])]
    assert pairs == [(0, 1), (1, 2), (2, 3), (0, 3)]


@pytest.mark.parametrize(
    ("baseline", "pairs"),
    [
        (1, [(0, 1), (1, 2), (2, 3), (1, 3)]),
        (2, [(0, 1), (1, 2), (2, 3)]),
        (3, [(0, 1), (1, 2), (2, 3)]),
    ],
)
def test_the_last_is_compared_with_the_baseline_once(baseline: int, pairs: list[tuple[int, int]]) -> None:
    comparisons = compare_checkpoints([score_series(*[[0.5] * 20] * 4)], baseline)
    assert [(c.earlier, c.later) for c in comparisons] == pairs


def test_a_difference_has_the_interval_of_its_clusters_on_the_scale() -> None:
    before, after = [0.2, 0.4, 0.3, 0.5, 0.1, 0.6, 0.2, 0.3], [0.3, 0.6, 0.3, 0.6, 0.5, 0.8, 0.1, 0.6]
    (comparison,) = compare_checkpoints([score_series(before, after, clusters={})])
    expected = stats.ttest_rel(after, before).confidence_interval(0.95)
    assert comparison.interval == pytest.approx(tuple(expected))
    scale = Scale(low=0, high=1)
    (equal,) = compare_checkpoints([score_series([0.5] * 8, [0.5] * 8, scale=scale)])
    assert equal.interval == pytest.approx(difference_interval([0.0] * 8, scale=(0, 1)).bounds)
    many = score_series(before * 3, after * 3, clusters={f"p{i}": f"c{i // 2}" for i in range(24)})
    (clustered,) = compare_checkpoints([many])
    differences = [b - a for a, b in zip(before * 3, after * 3, strict=True)]
    names = [f"c{i // 2}" for i in range(24)]
    assert clustered.interval == pytest.approx(difference_interval(differences, names).bounds)


def test_two_checkpoints_are_one_comparison_and_one_is_none() -> None:
    assert len(compare_checkpoints([score_series([0.5] * 20, [0.5] * 20)])) == 1
    assert compare_checkpoints([score_series([0.5] * 20)]) == []


def test_all_scores_of_a_report_are_one_family() -> None:
    falling = score_series([1.0] * 10, [0.5] * 10)
    (alone,) = compare_checkpoints([falling])
    among_others = compare_checkpoints([falling, *[score_series([0.5] * 10, [0.5] * 10)] * 9])
    assert alone.p_adjusted == pytest.approx(2 / 1024)
    assert among_others[0].p_adjusted == pytest.approx(20 / 1024)
    assert alone.detectable is None


def test_only_common_prompts_count() -> None:
    series = score_series([1.0] * 12, [0.5] * 10)
    (comparison,) = compare_checkpoints([series])
    assert comparison.test.prompts == 10


@each_row(
    "changes",
    [
        pytest.param({"coverages": (1.0, 0.94)}, id="too few prompts covered"),
        pytest.param({"signatures": ("s|v:1", "s|v:2")}, id="another way of scoring"),
        pytest.param(
            {"keys": (ComparabilityKey({"references": "1f"}), ComparabilityKey({"references": "2e"}))},
            id="edited references",
        ),
        pytest.param({"values": ({}, {})}, id="no scores"),
        pytest.param({"clusters": {f"p{i}": "one" for i in range(20)}}, id="one cluster"),
    ],
)
def test_what_cannot_be_compared_is_left_out(changes: dict[str, object]) -> None:
    assert compare_checkpoints([score_series([1.0] * 20, [0.0] * 20, **changes)]) == []


def test_five_prompts_are_too_few_and_do_not_cost_the_others_power() -> None:
    small = [score_series([1.0] * 5, [0.0] * 5, address=f"t/{i}") for i in range(30)]
    (comparison,) = compare_checkpoints([*small, score_series([1.0] * 6, [0.0] * 6)])
    assert comparison.p_adjusted == pytest.approx(2 / 64)


@pytest.mark.slow
@pytest.mark.parametrize(
    "shares", [[0.05, 0.1, 0.2, 0.35, 0.3], [0.025] * 4 + [0.9]], ids=["skew", "ceiling"]
)
def test_a_report_without_drift_names_a_fall_in_at_most_one_of_twenty(shares: list[float]) -> None:
    """Ten scores, ten checkpoints, 30 prompts with three repeats; nothing differs."""
    rng = np.random.default_rng(14)
    levels = np.array([0, 0.25, 0.5, 0.75, 1])
    reports = 200
    wrong = 0
    for _ in range(reports):
        answers = rng.choice(levels, (10, 10, 30, 3), p=shares).mean(axis=3)
        series = [score_series(*score.tolist(), address=f"t/{i}") for i, score in enumerate(answers)]
        comparisons = compare_checkpoints(series)
        wrong += any(item.significant and item.test.difference < 0 for item in comparisons)
    assert wrong / reports <= 0.05

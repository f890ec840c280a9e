"""The comparison of two runs: families, outcomes, and how often it is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from quick_tests import uncorrected
from rows import each_row
from scipy import stats
from score_pairs import DOWN, UNIT, pair, paired

from hengwen.monitoring.run_comparison import ScorePair, compare_scores
from hengwen.records import Scale
from hengwen.results import comparisons
from hengwen.stats.power import detectable_effect

from .compare_simulations import (
    CLUSTER_SIZES,
    alarms_of_clusters,
    alarms_of_scores,
    alarms_of_unequal_repeats,
    compare,
)

RISING = ([0.0] * 10, [0.75] * 9 + [1.0])


@pytest.mark.parametrize(("scale", "outcome"), [(UNIT, "better"), (DOWN, "worse"), (None, "better")])
def test_better_and_worse_follow_the_direction_of_the_scale(scale: Scale | None, outcome: str) -> None:
    (score,) = compare(pair(*RISING, scale=scale))
    assert score.outcome == outcome
    assert score.test.difference == pytest.approx(0.775)
    assert score.means == pytest.approx((0.0, 0.775))
    assert (score.effects.wins, score.effects.losses) == ((0, 10) if scale == DOWN else (10, 0))


def test_headline_scores_are_one_family_and_breakdowns_apart_from_them() -> None:
    mixed = ([0.1 * i for i in range(10)], [0.1 * i + (-0.5) ** (i + 1) for i in range(10)])
    scores = compare(pair(*RISING), pair(*mixed), *[pair(*RISING, family="breakdown")] * 4)
    assert scores[0].p_adjusted == pytest.approx(2 / 1024)
    assert scores[1].p_adjusted >= scores[1].test.p
    assert scores[0].family_interval[0] <= scores[0].interval.bounds[0]
    assert {score.family_interval for score in scores[2:]} == {None}
    assert [score.p_adjusted for score in scores[2:]] == pytest.approx([2 / 1024] * 4)
    assert {score.outcome for score in scores[2:]} == {"better"}


def test_the_smallest_detectable_difference_is_at_the_level_of_the_family() -> None:
    rng = np.random.default_rng(1)
    before, after, other = rng.random((3, 30))
    smooth = pair(before, after, scale=Scale(low=0, high=1))
    (alone,) = compare(smooth)
    first, _ = compare(smooth, pair(before, other))
    error = stats.sem(after - before)
    assert alone.detectable == pytest.approx(detectable_effect(error, 29, 0.05), rel=0.03)
    assert first.detectable > 1.05 * alone.detectable


def test_a_rise_of_few_prompts_by_one_level_leaves_the_mean_undecided() -> None:
    (score,) = compare(pair([0.25] * 10, [0.5] * 9 + [0.75]))
    assert (score.outcome, score.p_adjusted) == ("mean undecided", pytest.approx(2 / 1024))
    assert score.interval.bounds[0] < 0 < score.interval.bounds[1]
    (breakdown,) = compare(pair([0.25] * 10, [0.5] * 9 + [0.75], family="breakdown"))
    assert breakdown.outcome == "mean undecided"


@pytest.mark.slow
@each_row("scale", [None, UNIT, DOWN, Scale(low=0, high=1), Scale(low=0, high=1, higher_is_better=False)])
def test_intervals_never_contradict_verdicts(scale: Scale | None) -> None:
    rng = np.random.default_rng(3)
    outcomes = set()
    for shift in (0.0, 0.05, 0.1, 0.2, 0.4) * 6:
        before = rng.random(14) * 0.5
        after = np.clip(before + shift + rng.normal(0, 0.15, 14), 0, 1)
        for score in compare(
            pair(before, after, scale=scale), pair(before, after, scale=scale, family="breakdown")
        ):
            outcomes.add(score.outcome)
            low, high = score.interval.bounds or (0.0, 0.0)
            is_claimed = score.outcome in ("better", "worse")
            assert not is_claimed or low > 0 or high < 0
            if score.family_interval is not None:
                wide = score.family_interval
                assert wide[0] <= low <= high <= wide[1]
                assert (wide[0] > 0 or wide[1] < 0) == is_claimed
    assert {"no difference seen"} < outcomes


def test_on_an_unknown_scale_the_interval_reaches_as_far_as_the_largest_difference() -> None:
    before, after = [1.0] * 10, [3.0] * 9 + [9.0]
    unknown, known = compare(
        pair(before, after, scale=None), pair(before, after, scale=Scale(low=0, high=8, discrete=False))
    )
    assert unknown.interval.bounds == pytest.approx(known.interval.bounds)


def test_five_prompts_are_too_few_and_no_part_of_the_family() -> None:
    few, enough = compare(pair([0.0] * 5, [1.0] * 5), pair(*RISING))
    assert (few.outcome, few.p_adjusted, few.test.p) == ("too few", None, 2 / 32)
    assert few.test.difference == 1.0
    assert enough.p_adjusted == pytest.approx(2 / 1024)
    (breakdown,) = compare(pair([0.0] * 5, [1.0] * 5, family="breakdown"))
    assert breakdown.outcome == "too few"


def test_one_prompt_is_too_few() -> None:
    (score,) = compare(pair([0.0], [1.0]))
    assert (score.outcome, score.detectable, score.interval.bounds) == ("too few", None, None)


def test_clusters_count_and_not_prompts() -> None:
    (score,) = compare(pair(*RISING, clusters=("a", "b") * 5))
    assert (score.outcome, score.test.clusters) == ("too few", 2)


def test_missing_scores_leave_no_verdict() -> None:
    missing, other = compare(pair(*RISING, coverage=(0.94, 1.0)), pair(*RISING))
    assert (missing.outcome, missing.p_adjusted) == ("missing scores", None)
    assert missing.test.difference == pytest.approx(0.775)
    assert other.p_adjusted == pytest.approx(2 / 1024)


def test_constant_scores_differ_in_nothing_and_have_an_interval() -> None:
    (score,) = compare(pair([1.0] * 12, [1.0] * 12))
    assert (score.outcome, score.test.p, score.detectable) == ("no difference seen", 1.0, None)
    assert score.interval.bounds[0] < 0 < score.interval.bounds[1]
    assert score.mcnemar_p == 1.0


def test_a_shift_of_every_prompt_has_no_smallest_detectable_difference() -> None:
    (score,) = compare(pair([0.01 * i for i in range(8)], [0.01 * i + 0.9 for i in range(8)]))
    assert (score.outcome, score.detectable) == ("better", None)


def test_passes_are_compared_by_mcnemar_where_prompts_are_independent() -> None:
    before, after = [0.0] * 9 + [1.0] * 3, [1.0] * 9 + [1.0, 1.0, 0.0]
    (passes,) = compare(pair(before, after))
    assert passes.mcnemar_p == stats.binomtest(9, 10).pvalue == pytest.approx(passes.test.p)
    assert compare(pair(before, after, clusters=("a", "b", "c", "d") * 3))[0].mcnemar_p is None
    assert compare(pair(*RISING))[0].mcnemar_p is None


def test_scores_without_common_prompts_are_said_to_be_so() -> None:
    scores = compare(
        pair([], []),
        ScorePair(address="t/x", family="headline", problem="keys", detail="endpoint differ"),
    )
    assert [(score.outcome, score.problem, score.detail) for score in scores] == [
        ("not comparable", "no common prompts", ""),
        ("not comparable", "keys", "endpoint differ"),
    ]


def test_precision_weights_are_another_estimand_beside_the_plain_mean() -> None:
    repeats = (((1,), (1,)),) * 8 + (((1, 2, 3, 4), (1, 2, 3, 4)),) * 4
    values = {"repeats": repeats, "repeat_variance": 0.2}
    before, after = [0.5] * 12, [0.5, 0.25] * 4 + [0.75, 0.8, 0.85, 0.9]
    (score,) = compare(pair(before, after, **values), weights="precision")
    assert score.weighted.difference > score.test.difference
    assert score.weighted.interval[0] < score.weighted.difference < score.weighted.interval[1]
    assert 0 < score.weighted.p <= 1
    assert compare(pair(before, after, **values))[0].weighted is None
    assert compare(pair(before, after), weights="precision")[0].weighted is None


def test_the_difference_at_equal_length_stands_beside_the_raw_one() -> None:
    changes = [0.1 * index for index in range(12)]
    values = paired([0.0] * 12, [0.08 * index for index in range(12)])
    item = ScorePair(address="t/s", family="headline", scale=UNIT, values=values, length_changes=changes)
    (score,) = compare_scores([item])
    assert score.outcome == "better"
    assert score.equal_length.difference == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@each_row(
    ("name", "count", "prompts"), [("skew", 1, 30), ("skew", 5, 10), ("skew", 5, 30), ("ceiling", 5, 30)]
)
def test_a_difference_that_is_none_is_named_in_at_most_six_of_a_hundred(
    name: str, count: int, prompts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert alarms_of_scores(name, count, prompts, 300) <= 0.06
    if (name, prompts) == ("skew", 30) and count == 5:
        with monkeypatch.context() as patched:
            patched.setattr(comparisons, "step_down", uncorrected)
            assert alarms_of_scores(name, count, prompts, 100) >= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("sizes", CLUSTER_SIZES.values(), ids=CLUSTER_SIZES)
def test_clusters_that_move_together_raise_no_more_alarms(sizes: list[int]) -> None:
    assert alarms_of_clusters(sizes, 500) <= 0.06


@pytest.mark.slow
@pytest.mark.parametrize("prompts", [15, 30, 100])
def test_one_answer_against_five_raises_no_more_alarms(prompts: int) -> None:
    assert alarms_of_unequal_repeats(prompts, 300) <= 0.06

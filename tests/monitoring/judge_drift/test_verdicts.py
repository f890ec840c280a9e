"""What drifted, by two p-values, and the correction for the number of scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rows import each_row
from scipy import stats

from hengwen.monitoring.judge_drift.effects import (
    AnchorChanges,
    Effect,
    JudgeConsistency,
    adjusted_effect,
    anchor_effect,
    paired_effect,
)
from hengwen.monitoring.judge_drift.verdicts import JudgedScoreDrift, decide, name_drift

NAMES = [f"p{index}" for index in range(200)]
SAME = JudgeConsistency(
    kappa=0.8, kappa_interval=(0.7, 0.9), floor=0.8, excess=0.01, p=0.4, answers=180, prompts=60
)


def effect(p: float, clusters: int = 60, half: float = 0.1) -> Effect:
    return Effect(
        difference=0.0,
        p=p,
        interval=(-half, half),
        interval_90=(-half, half),
        clusters=clusters,
        error=0.05,
        freedom=clusters - 1,
        detectable=0.1,
    )


def drift(model: float = 0.5, judge: float = 0.5, **fields) -> JudgedScoreDrift:
    return JudgedScoreDrift(address="t/s", margin=0.04, model=effect(model), judge=effect(judge), **fields)


@each_row(
    ("model", "judge", "verdict"),
    [
        (0.001, 0.5, "model drifted"),
        (0.5, 0.001, "judge drifted"),
        (0.001, 0.006, "model drifted"),
        (0.004, 0.005, "both"),
        (0.06, 0.06, "cannot tell"),
        (0.05, 1.0, "model drifted"),
        (0.02, 0.02, "cannot tell"),
        (0.005, 0.005, "both"),
    ],
)
def test_a_second_change_needs_stronger_evidence(model: float, judge: float, verdict: str) -> None:
    assert name_drift(model, judge) == verdict


def test_more_scores_need_smaller_p_values() -> None:
    assert [score.verdict for score in decide([drift(model=0.03)])] == ["model drifted"]
    scores = decide([drift(model=0.03), drift(), drift()])
    assert [score.verdict for score in scores] == ["cannot tell"] * 3
    assert scores[0].model.p_adjusted == pytest.approx(0.09)
    assert scores[0].judge.p_adjusted == 1.0


def test_members_are_a_family_of_their_own() -> None:
    members = [drift(model=0.03, family="member"), drift(model=0.04, family="member")]
    scores = decide([drift(model=0.03), *members])
    assert [score.model.p_adjusted for score in scores] == [0.03, 0.04, 0.04]


def test_a_score_with_a_reason_is_not_tested() -> None:
    without = JudgedScoreDrift(address="t/s", reason="not judged again")
    scores = decide([drift(model=0.03), drift(model=0.0, reason="missing scores"), without])
    assert [score.verdict for score in scores] == ["model drifted", "cannot tell", "cannot tell"]
    assert scores[1].model.p_adjusted is None


def test_stable_needs_both_intervals_within_the_margin() -> None:
    narrow, wide = effect(0.5, half=0.03), effect(0.5, half=0.05)
    pairs = [(narrow, narrow), (narrow, wide), (wide, narrow)]
    scores = [
        JudgedScoreDrift(address="t/s", margin=0.04, model=model, judge=judge, consistency=SAME)
        for model, judge in pairs
    ]
    assert [score.verdict for score in decide(scores)] == ["stable", "cannot tell", "cannot tell"]
    assert decide([JudgedScoreDrift(address="t/s", model=narrow, judge=narrow)])[0].verdict == "cannot tell"


def test_a_change_within_the_margin_is_stable_although_it_is_seen() -> None:
    narrow = effect(1e-6, half=0.03)
    score = JudgedScoreDrift(
        address="t/s", margin=0.04, model=narrow, judge=effect(0.5, half=0.03), consistency=SAME
    )
    assert decide([score])[0].verdict == "stable"


def test_too_few_clusters_leave_the_family() -> None:
    few = JudgedScoreDrift(address="t/s", margin=0.04, model=effect(0.0, 5), judge=effect(0.0, 5))
    scores = decide([few, drift(model=0.03)])
    assert [(score.verdict, score.reason) for score in scores] == [
        ("cannot tell", "too few"),
        ("model drifted", ""),
    ]


def test_a_rare_change_is_tested_by_signs_and_a_common_one_by_t() -> None:
    rare = [0.5] * 195 + [0.25] * 5
    assert paired_effect([0.5] * 200, rare, NAMES, scale=(0, 1)).p == pytest.approx(2 / 2**5)
    common = [0.5 + 0.001 * (index % 11 - 5) for index in range(200)]
    by_t = stats.ttest_1samp(np.array(common) - 0.5, 0).pvalue
    assert paired_effect([0.5] * 200, common, NAMES, scale=(0, 1)).p == pytest.approx(by_t)


@each_row(
    ("changes", "verdict", "reason"),
    [
        ({}, "stable", ""),
        ({"p": 0.02}, "judge drifted", ""),
        ({"p": 0.03}, "stable", ""),  # one of two tests of the judge
        ({"kappa_interval": (0.1, 0.3)}, "judge drifted", ""),
        ({"kappa_interval": (0.3, 0.9)}, "cannot tell", "judge agreement"),
        ({"excess": 0.07}, "cannot tell", "judge agreement"),
        ({"kappa_interval": None}, "cannot tell", "judge agreement"),
        ({"excess": None, "p": None}, "cannot tell", "judged again once"),
    ],
)
def test_means_that_hardly_changed_are_not_enough_to_be_stable(
    changes: dict[str, Any], verdict: str, reason: str
) -> None:
    narrow = effect(0.5, half=0.03)
    consistency = replace(SAME, **changes)
    score = JudgedScoreDrift(
        address="t/s", arm="re-judged", margin=0.04, model=narrow, judge=narrow, consistency=consistency
    )
    (decided,) = decide([score])
    assert (decided.verdict, decided.reason) == (verdict, reason)


def test_a_changed_judge_is_named_beside_a_changed_model_only_on_strong_evidence() -> None:
    seen = [replace(SAME, p=0.01), replace(SAME, p=0.001)]
    decided = [decide([drift(model=0.001, consistency=item)])[0].verdict for item in seen]
    assert decided == ["model drifted", "both"]


def test_constant_scores_have_an_interval_on_a_scale_only() -> None:
    constant = paired_effect([0.5] * 150, [0.5] * 150, NAMES[:150], scale=(0, 1))
    assert (constant.p, constant.detectable) == (1.0, None)
    assert constant.interval_90 is not None
    unbounded = paired_effect([0.5] * 150, [0.5] * 150, NAMES[:150], scale=None)
    assert (unbounded.interval, unbounded.prompts_needed) == (None, None)


def test_prompts_of_a_cluster_count_together() -> None:
    clusters = [str(index // 10) for index in range(60)]
    later = [0.25 if index < 30 else 0.5 for index in range(60)]
    effect = paired_effect([0.5] * 60, later, clusters, scale=(0, 1))
    assert (effect.clusters, effect.prompts, effect.p) == (6, 60, 0.25)


def test_one_cluster_shows_nothing() -> None:
    single = paired_effect([0.5], [0.25], ["p0"], scale=(0, 1))
    assert (single.p, single.interval, single.detectable) == (1.0, None, None)


def test_the_model_is_less_certain_if_the_judge_is_known_from_anchors() -> None:
    raw, judge = effect(0.001), effect(0.5)
    adjusted = adjusted_effect(raw, judge, margin=0.04)
    assert adjusted.error > raw.error
    assert adjusted.interval == pytest.approx((-0.1 * 2**0.5, 0.1 * 2**0.5))


def constant_changes(model: float, judge: float) -> tuple[Effect, Effect]:
    """Return the changes of scores and anchors if each score and each anchor changes by the same value."""
    raw = paired_effect([0.75] * 150, [0.75 + model] * 150, NAMES[:150], scale=(0, 1))
    anchors = AnchorChanges(
        differences=[judge] * 300,
        clusters=[f"x{index}" for index in range(300)],
        levels=[3] * 300,
        answer_levels=[3] * 150,
    )
    return raw, anchor_effect(anchors, scale=(0, 1))


def test_a_model_that_falls_equally_on_every_prompt_drifted() -> None:
    raw, judge = constant_changes(-0.5, 0.0)
    model = adjusted_effect(raw, judge, margin=0.04)
    assert (model.difference, model.p) == (-0.5, raw.p)
    assert raw.p < 1e-6
    assert decide([JudgedScoreDrift(address="t/s", margin=0.04, model=model, judge=judge)])[0].verdict == (
        "model drifted"
    )


@each_row(("change", "p_is_one"), [(-0.5, False), (-0.25, True)])
def test_of_two_constant_changes_the_larger_p_value_counts(change: float, p_is_one: bool) -> None:
    raw, judge = constant_changes(change, -0.25)
    p = adjusted_effect(raw, judge, margin=0.04).p
    assert p == (1.0 if p_is_one else max(raw.p, judge.p))
    assert (p == 1.0) == p_is_one

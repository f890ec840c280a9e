"""The second way: anchors with human values that both runs judged."""

from __future__ import annotations

import pytest

from hengwen import judge_drift, rejudge
from hengwen.monitoring.judge_drift.effects import AnchorChanges, anchor_effect
from hengwen.monitoring.judge_drift.verdicts import JudgedScoreDrift

pytestmark = pytest.mark.slow

MANY = {f"p{index}": [3 if index % 4 else 1] for index in range(150)}
"""A quarter of the answers has the level 1, the others have the level 3."""


def anchors(count: int, levels=(1, 3)) -> dict[str, list[int]]:
    return {f"x{index}": [levels[index % len(levels)]] for index in range(count)}


def lower(*, every: int, level: int | None = None):
    """Lower the verdict on every n-th anchor and answer, or only on those of one level."""

    def shift(model: str, text: str, true: int) -> int:
        number = int(text.rpartition("-")[0].rpartition("p")[2] if "-p" in text else text.partition("x")[2])
        return true - (number // 4 % every == 0 and level in (None, true))

    return shift


def report(plans, judges, shift=None, *, count: int = 300, levels=(1, 3), after=MANY) -> JudgedScoreDrift:
    plans.run("a", MANY, anchors=anchors(count, levels))
    if shift is not None:
        judges.shift = shift
    plans.run("b", after, anchors=anchors(count, levels))
    (score,) = judge_drift(plans.store).scores
    return score


def test_a_judge_that_drifted_is_named(plans, judges) -> None:
    score = report(plans, judges, lower(every=4))
    assert (score.verdict, score.arm, score.judge.anchors) == ("judge drifted", "anchors", 300)
    assert score.judge.difference == pytest.approx(-0.0625, abs=0.01)
    assert score.again is None
    assert abs(score.model.difference) < 0.02


def test_a_model_that_drifted_is_named(plans, judges) -> None:
    fallen = {
        name: [level - (index % 2) for level in levels] for index, (name, levels) in enumerate(MANY.items())
    }
    score = report(plans, judges, after=fallen)
    assert (score.verdict, score.judge.difference) == ("model drifted", 0)
    assert score.model.difference == pytest.approx(-0.125)


def test_nothing_changed_is_stable(plans, judges) -> None:
    assert report(plans, judges).verdict == "stable"


def test_anchors_are_weighted_to_the_levels_of_the_answers(plans, judges) -> None:
    score = report(plans, judges, lower(every=2, level=1))
    assert score.verdict == "judge drifted"
    assert score.judge.difference == pytest.approx(-0.25 / 8, abs=0.002)  # half of a quarter of the answers
    assert abs(score.model.difference) < 0.005


def test_below_a_hundred_anchors_there_is_no_verdict(plans, judges) -> None:
    score = report(plans, judges, lower(every=2), count=99)
    assert (score.verdict, score.reason, score.judge.anchors) == ("cannot tell", "few anchors", 99)


def test_levels_without_anchors_give_no_verdict(plans, judges) -> None:
    score = report(plans, judges, levels=(3,))
    assert (score.verdict, score.reason) == ("cannot tell", "anchor levels")
    judges.shift = lambda model, text, level: level


def test_anchors_without_any_level_of_the_answers_give_no_change(plans, judges) -> None:
    score = report(plans, judges, levels=(0, 2))
    assert (score.reason, score.judge) == ("anchor levels", None)


def test_an_edited_anchor_is_another_one(plans) -> None:
    plans.run("a", MANY, anchors=anchors(110))
    plans.run("b", MANY, anchors={**anchors(110), "x0": [2], "new": [1]})
    (score,) = judge_drift(plans.store).scores
    assert score.judge.anchors == 109


def test_another_judge_breaks_the_series_in_spite_of_anchors(plans, judges) -> None:
    judges.returned["m"] = "m-0"
    plans.run("a", MANY, anchors=anchors(120))
    judges.returned["m"] = "m-1"
    plans.run("b", MANY, anchors=anchors(120))
    (score,) = judge_drift(plans.store).scores
    assert (score.reason, score.judge) == ("judge changed", None)


def test_beside_new_verdicts_anchors_say_which_judge_is_nearer_to_people(plans, judges) -> None:
    plans.run("a", MANY, anchors=anchors(120))
    judges.shift = lower(every=2)
    rejudge(plans.run("b", MANY, anchors=anchors(120)), store=plans.store)
    (score,) = judge_drift(plans.store).scores
    assert (score.arm, score.verdict) == ("re-judged", "judge drifted")
    agreement = score.agreement
    assert (agreement.anchors, agreement.error_then) == (120, 0)
    assert agreement.error_now == pytest.approx(0.125, abs=0.01)
    assert agreement.p < 0.001


def test_human_levels_are_no_human_values_of_a_criterion(plans, judges) -> None:
    plans.run("a", MANY, anchors=anchors(120))
    plans.run("b", MANY, anchors=anchors(120))
    criterion = "t/persona_generic.task_fit"
    level, score = judge_drift(plans.store, scores=["t/persona_generic.level", criterion]).scores
    assert (score.address, score.arm, score.judge.anchors) == (criterion, "anchors", 120)
    assert (level.agreement.anchors, score.agreement) == (120, None)


def test_anchors_at_levels_without_answers_are_not_used() -> None:
    changes = AnchorChanges(
        differences=[-1.0, 0.0, 0.25], clusters=["a", "b", "c"], levels=[0, 1, 1], answer_levels=[1, 2]
    )
    effect = anchor_effect(changes, scale=(0, 1))
    assert (effect.difference, effect.anchors, changes.uncovered) == (0.125, 2, 0.5)


def test_the_change_of_the_judge_is_not_subtracted_from_answers_that_are_equal(plans, judges) -> None:
    plans.run("a", MANY, anchors=anchors(300), author="both")
    judges.shift = lower(every=2)
    plans.run("b", MANY, anchors=anchors(300), author="both")
    (score,) = judge_drift(plans.store).scores
    assert (score.verdict, score.arm, score.model.difference) == ("judge drifted", "anchors", 0)

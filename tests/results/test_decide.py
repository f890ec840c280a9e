"""Which checkpoint to ship: lists of those not worse than the best seen, disagreements, margins, prices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from prompt_series import prompt_series
from rows import each_row

from hengwen.records import Scale
from hengwen.results.comparisons import compare_checkpoints
from hengwen.results.decide import Decision, Disagreement, ScoreCourse, Standing, decide
from hengwen.results.score_series import ScoreSeries

UNIT = Scale(low=0, high=1)
ERRORS = Scale(low=0, high=1, higher_is_better=False)


def series_of(*means: float, address: str = "t/s", prompts: int = 30, scale: Scale = UNIT) -> ScoreSeries:
    """Return values of prompts that scatter around these means of the checkpoints."""
    rng = np.random.default_rng(len(address))
    noise = rng.normal(0, 0.07, (len(means), prompts))
    noise -= noise.mean(axis=1, keepdims=True)
    values = (np.array(means)[:, None] + noise).tolist()
    return prompt_series(*values, address=address, scale=scale)


def decision_of(
    *series: ScoreSeries, margins: dict[str, float] | None = None, uncovered: int | None = None
) -> Decision:
    comparisons = compare_checkpoints(series)
    courses = [
        ScoreCourse(
            address=item.address,
            higher_is_better=item.scale is None or item.scale.higher_is_better,
            means=tuple(item.values.mean(axis=0).tolist()),
            is_covered=tuple(index != uncovered for index in range(item.values.shape[1])),
            comparisons=[pair for pair in comparisons if pair.address == item.address],
            series=item,
        )
        for item in series
    ]
    return decide([f"c{index}" for index in range(series[0].values.shape[1])], courses, margins)


def standings(decision: Decision, score: int = 0) -> list[Standing]:
    return [item.standing for item in decision.scores[score].standings]


def test_a_newest_checkpoint_that_has_fallen_from_the_peak_is_not_shipped() -> None:
    decision = decision_of(series_of(0.5, 0.8, 0.79, 0.6))
    assert (decision.verdict, decision.checkpoint, decision.newest) == ("ship", "c1", "c3")
    assert standings(decision) == ["worse", "best seen", "not worse", "worse"]
    (score,) = decision.scores
    assert (score.best_seen, score.peak, score.newest, score.not_worse) == ("c1", "c1", "worse", ("c1", "c2"))
    assert score.change == pytest.approx(-0.2)


def test_a_rise_over_the_peak_makes_the_newest_the_one_to_ship() -> None:
    decision = decision_of(series_of(0.4, 0.5, 0.8))
    assert (decision.verdict, decision.checkpoint, decision.scores[0].newest) == ("ship", "c2", "better")
    assert decision.scores[0].peak == "c1"


def test_where_lower_is_better_the_lowest_is_the_best_seen() -> None:
    decision = decision_of(series_of(0.2, 0.6, scale=ERRORS))
    assert (decision.checkpoint, decision.scores[0].newest) == ("c0", "worse")
    assert decision.scores[0].standings[1].difference == pytest.approx(0.4)


def test_equal_checkpoints_are_undecided_and_say_how_many_prompts_would_tell() -> None:
    decision = decision_of(series_of(0.5, 0.53))
    assert (decision.verdict, decision.checkpoint) == ("undecided", "c1")
    assert decision.on_every_list == ("c0", "c1")
    behind = decision.scores[0].standings[0]
    assert (behind.better, behind.prompts) == ("c1", 30)
    assert behind.prompts_needed is not None
    assert behind.prompts_needed > 30


def test_of_checkpoints_on_every_list_the_one_that_trails_least_is_shipped() -> None:
    first = series_of(0.2, 0.80, 0.79, 0.77, address="t/a")
    second = series_of(0.2, 0.70, 0.73, 0.74, address="t/bb")
    decision = decision_of(first, second)
    assert decision.on_every_list == ("c1", "c2", "c3")
    assert (decision.verdict, decision.checkpoint) == ("ship", "c2"), "the others trail more in one score"


def test_of_equal_ones_the_newest_is_shipped() -> None:
    same = series_of(0.2, 0.7, address="t/a")
    twin = prompt_series(*same.values.T.tolist(), same.values[:, 1].tolist(), scale=UNIT)
    assert decision_of(twin).checkpoint == "c2"


def test_where_scores_disagree_the_last_that_gave_nothing_up_is_kept() -> None:
    lyrics = series_of(0.2, 0.4, 0.6, 0.8, address="lyrics/total")
    persona = series_of(0.6, 0.61, 0.6, 0.2, address="persona/level")
    decision = decision_of(lyrics, persona)
    assert (decision.verdict, decision.checkpoint, decision.on_every_list) == ("keep", "c2", ())
    assert decision.disagreements == (Disagreement("c3", ("lyrics/total",), ("persona/level",)),)


def test_a_small_fall_within_the_margin_of_the_plan_is_forgiven() -> None:
    fallen = series_of(0.3, 0.8, 0.73)
    assert standings(decision_of(fallen)) == ["worse", "best seen", "worse"]
    forgiven = decision_of(fallen, margins={"t/s": 0.3})
    assert standings(forgiven) == ["worse", "best seen", "not worse"]
    assert forgiven.scores[0].margin == 0.3


def test_with_a_margin_a_checkpoint_must_be_shown_to_be_within_it() -> None:
    close = series_of(0.3, 0.8, 0.79)
    assert standings(decision_of(close, margins={"t/s": 0.01})) == ["worse", "best seen", "undecided"]
    both = [series_of(0.8, 0.79, address="t/a"), series_of(0.79, 0.8, address="t/bb")]
    decision = decision_of(*both, margins={"t/a": 0.01, "t/bb": 0.01})
    assert (decision.verdict, decision.on_every_list) == ("undecided", ())


def test_a_checkpoint_with_missing_answers_is_neither_best_nor_shipped() -> None:
    decision = decision_of(series_of(0.3, 0.5, 0.9), uncovered=2)
    assert standings(decision) == ["worse", "best seen", "missing answers"]
    assert (decision.checkpoint, decision.scores[0].best_seen) == ("c1", "c1")


@each_row(
    ("problem", "fields"),
    [
        ("nothing scored", {"means": (None, None)}),
        ("one checkpoint", {"means": (0.5, None)}),
        ("not comparable", {"has_conflict": True, "order_problem": "no step"}),
        ("order unknown", {"order_problem": "no step"}),
        ("not tested", {}),
        ("not tested", {"is_group": True, "has_conflict": True}),
    ],
)
def test_without_a_score_that_can_be_compared_there_is_nothing_to_decide(
    problem: str, fields: dict[str, Any]
) -> None:
    course = ScoreCourse(
        **{
            "address": "t/s",
            "higher_is_better": True,
            "means": (0.5, 0.9),
            "is_covered": (True, True),
            **fields,
        }
    )
    decision = decide(["a", "b"], [course])
    assert (decision.verdict, decision.checkpoint) == ("none", "")
    assert decision.scores[0].problem == problem
    assert {item.standing for item in decision.scores[0].standings} == {"not compared"}


def test_no_checkpoints_need_no_decision() -> None:
    assert decide([], []) == Decision(verdict="none")


def test_a_score_of_sets_counts_where_it_is_tested_and_only_there() -> None:
    total = series_of(0.8, 0.8, 0.8)
    pairs = compare_checkpoints([series_of(0.9, 0.5, 0.5, address="t/d")])
    course = ScoreCourse(
        address="t/s",
        higher_is_better=True,
        means=(0.8, 0.8, 0.8),
        is_covered=(True,) * 3,
        comparisons=compare_checkpoints([total]),
        series=total,
    )
    group = replace(course, address="t/d", means=(0.9, 0.5, 0.4), series=None, is_group=True)
    assert [(pair.verdict, pair.later) for pair in pairs[:2]] == [("worse", 1), ("worse", 2)]
    decision = decide(["a", "b", "c"], [course, replace(group, comparisons=pairs)])
    assert standings(decision, 1) == ["best seen", "worse", "worse"]
    assert decision.on_every_list == ("a",)
    decision = decide(["a", "b", "c"], [course, replace(group, comparisons=pairs[1:2])])
    assert standings(decision, 1) == ["best seen", "not compared", "worse"]
    assert (decision.verdict, decision.checkpoint, decision.on_every_list) == ("ship", "a", ("a", "b"))
    shorter = replace(group, means=(0.9, 0.5, 0.95), comparisons=pairs[1:2])
    decision = decide(["a", "b", "c"], [course, shorter])
    assert (decision.scores[1].best_seen, standings(decision, 1)[0]) == ("c", "not worse")

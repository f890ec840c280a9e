"""The level from the criteria: the least, the lower median, and where some of them are missing."""

from __future__ import annotations

import json

import pytest
from rows import each_row

from hengwen.judges import RubricJudge, RulesJudge
from hengwen.judges.panel import aggregate_level
from hengwen.prompts import load_rubric
from hengwen.records import Failure, Response, Sample, Score

SAMPLE, ANSWER = Sample(id="1", input="?"), Response(sample_id="1", text="风起了")


def score(name: str, value: float) -> Score:
    return Score(name=f"x.{name}", value=value, signature="s", kind="judge", details={"label": f"L{value:g}"})


def failure(name: str, status: str) -> Failure:
    return Failure(name=f"x.{name}", status=status, message="why", signature="s", kind="judge")


LEVEL = score("level", 1)


@each_row(
    ("how", "values", "expected"),
    [
        ("holistic", [0, 0.5], 1),
        ("min_aspect", [0.75, 0.25, 1], 0.25),
        ("median_aspect", [0.75, 0.25, 1], 0.75),
        ("median_aspect", [0.75, 0.25, 1, 0.5], 0.5),
    ],
    ids=["own word", "least", "middle", "lower of two"],
)
def test_the_level_is_the_judges_own_the_least_or_the_lower_median(how, values, expected) -> None:
    level = aggregate_level(how, LEVEL, [score(f"c{i}", value) for i, value in enumerate(values)])
    assert (level.name, level.value) == ("x.level", expected)
    if how != "holistic":
        assert level.details["holistic"] == 1
        assert level.details["label"] == f"L{expected:g}"
        assert level.details["level_from"] == how


def test_what_does_not_apply_is_left_out_and_what_failed_fails_the_level() -> None:
    assert (
        aggregate_level("min_aspect", LEVEL, [failure("a", "not_applicable"), score("b", 0.5)]).value == 0.5
    )
    level = aggregate_level("min_aspect", LEVEL, [failure("a", "parse_error"), score("b", 0.5)])
    assert isinstance(level, Failure)
    assert (level.name, level.status) == ("x.level", "parse_error")
    none = aggregate_level("median_aspect", LEVEL, [failure("a", "not_applicable")])
    assert isinstance(none, Failure)
    assert none.status == "not_applicable"


async def test_the_three_ways_are_one_call_under_three_signatures(fake, small) -> None:
    reply = json.dumps({"reason": "r", "criteria": {"wit": "Low", "form": "Mid"}, "level": "High"})
    levels, calls, signatures = [], set(), set()
    for how in ("holistic", "min_aspect", "median_aspect"):
        backend = fake(reply)
        judge = RubricJudge(rubric=small, backend=backend, level_from=how)
        level, wit, form = (await judge.judge(SAMPLE, ANSWER)).outcomes
        levels.append(level.value)
        assert (wit.value, form.value) == (1, 2), "the criteria stand as they are"
        assert {level.signature, wit.signature} == {judge.signature}
        assert level.details.get("holistic", level.value) == 5
        (request,) = backend.requests
        calls.add(request.key("e"))
        signatures.add(judge.signature)
    assert levels == [5, 1, 1]
    assert (len(calls), len(signatures)) == (1, 3)


async def test_the_rules_judge_takes_the_criteria_that_it_can_see() -> None:
    rubric = load_rubric("muice_live")
    text = Response(sample_id="1", text="【回答】晚安，做个好梦，明天见")
    holistic = (await RulesJudge(rubric=rubric).judge(SAMPLE, text)).outcomes
    least = (await RulesJudge(rubric=rubric, level_from="min_aspect").judge(SAMPLE, text)).outcomes
    values = [criterion.value for criterion in holistic[1:] if isinstance(criterion, Score)]
    assert least[0].value == min(values) == 0.5
    assert [outcome.name for outcome in least] == [outcome.name for outcome in holistic]


def test_a_rubric_without_criteria_has_no_aspects(fake, small) -> None:
    bare = small.model_copy(update={"criteria": {}, "rules": None})
    for judge in (lambda: RubricJudge(rubric=bare, backend=fake(), level_from="min_aspect"),):
        with pytest.raises(ValueError, match="level_from: min_aspect needs a rubric with criteria"):
            judge()
    with pytest.raises(ValueError, match="level_from must be one of holistic, .*got 'best'"):
        RulesJudge(rubric=small, level_from="best")

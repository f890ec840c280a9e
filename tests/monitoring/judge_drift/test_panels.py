"""Panels are compared member by member, because a member that fails would seem to be a drift."""

from __future__ import annotations

import pytest

from hengwen import judge_drift, rejudge
from hengwen.monitoring.judge_drift.judged_series import member_verdicts
from hengwen.records import Failure

pytestmark = pytest.mark.slow

MANY = {f"p{index}": [index % 3 + 1] for index in range(150)}
PANEL = {"models": ("mild", "strict", "third")}


def index_of(text: str) -> int:
    return int(text.split("-p")[1].split("-")[0])


def verdicts(report) -> dict[str, tuple[str, str]]:
    return {score.label or score.address: (score.verdict, score.reason) for score in report.scores}


def test_the_member_that_drifted_is_named(plans, judges) -> None:
    plans.run("a", MANY, **PANEL)
    judges.shift = lambda model, text, level: level - (model == "strict" and index_of(text) % 5 == 0)
    rejudge(plans.run("b", MANY, **PANEL), store=plans.store)
    verdict_of = verdicts(judge_drift(plans.store))
    assert verdict_of["t/persona_generic.level"][0] == "stable"  # the median hides one member
    assert verdict_of["replay/strict"][0] == "judge drifted"
    assert verdict_of["replay/mild"][0] == verdict_of["replay/third"][0] == "stable"


def test_a_strict_member_that_fails_in_one_run_is_no_drift(plans, judges) -> None:
    judges.shift = lambda model, text, level: level - (model == "strict")
    plans.run("a", MANY, **PANEL)
    judges.fails = lambda model, text: model == "strict" and index_of(text) % 5 < 2
    rejudge(plans.run("b", MANY, **PANEL), store=plans.store)
    report = judge_drift(plans.store)
    verdict_of = verdicts(report)
    assert verdict_of["t/persona_generic.level"] == ("cannot tell", "missing scores")
    assert verdict_of["replay/strict"] == ("cannot tell", "missing scores")
    assert verdict_of["replay/mild"][0] == verdict_of["replay/third"][0] == "stable"
    assert {score.family for score in report.scores[1:]} == {"member"}
    assert report.scores[1].address == "t/persona_generic.level"


def test_a_member_below_the_quorum_is_read_from_the_failure(plans, judges) -> None:
    judges.fails = lambda model, text: model != "mild" and text == "a-p0-1"
    plans.run("a", MANY, **PANEL)
    judges.fails = lambda model, text: False
    rejudge(plans.run("b", MANY, **PANEL), store=plans.store)
    mild = next(score for score in judge_drift(plans.store).scores if score.label == "replay/mild")
    assert mild.judge.prompts == 150


def test_a_member_that_another_replaced_is_matched_where_it_is_the_only_one(plans) -> None:
    plans.run("a", MANY, **PANEL)
    rejudge(plans.run("b", MANY, models=("mild", "strict", "new")), store=plans.store)
    report = judge_drift(plans.store)
    new = next(score for score in report.scores if score.label == "replay/new")
    assert new.verdict == "stable"
    assert {change.part for change in new.changes} == {"signature", "model"}


def test_members_that_only_one_panel_has_are_named(plans) -> None:
    plans.run("a", MANY, **PANEL)
    rejudge(plans.run("b", MANY, models=("mild", "new", "newer")), store=plans.store)
    verdict_of = verdicts(judge_drift(plans.store))
    assert verdict_of["replay/mild"][0] == "stable"
    assert [reason for _, reason in verdict_of.values()].count("not scored") == 4


def test_members_by_anchors(plans, judges) -> None:
    anchors = {f"x{index}": [index % 3 + 1] for index in range(120)}
    plans.run("a", MANY, anchors=anchors, **PANEL)
    judges.shift = lambda model, text, level: level - (model == "strict" and text.endswith(tuple("05")))
    plans.run("b", MANY, anchors=anchors, **PANEL)
    report = judge_drift(plans.store)
    strict = next(score for score in report.scores if score.label == "replay/strict")
    assert (strict.arm, strict.judge.anchors) == ("anchors", 120)
    assert strict.judge.difference < -0.04
    mild = next(score for score in report.scores if score.label == "replay/mild")
    assert mild.judge.difference == 0


def test_a_reply_of_a_model_is_never_read_as_a_panel() -> None:
    hostile = '{"members": {"a|v:1": 1.0}}'
    failure = Failure(name="j.level", status="parse_error", message="x", signature="j|v:1", raw=hostile)
    assert member_verdicts(failure) == {}


def test_an_unreadable_failure_of_a_panel_has_no_members() -> None:
    for raw in ("", "[1]", '{"members": 3}', "{"):
        failure = Failure(name="j.level", status="refused", message="", signature="j|panel:mean|v:1", raw=raw)
        assert member_verdicts(failure) == {}

"""The old judge, where it still answers, judges the later answers too: two judges, two checkpoints."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hengwen import JudgeDriftReport, RunOptions, judge_drift, rejudge
from hengwen.errors import ConfigError
from hengwen.monitoring.judge_drift.rejudging import estimate_rejudging
from hengwen.monitoring.judge_drift.verdicts import JudgedScoreDrift

pytestmark = pytest.mark.slow

ALL = {f"p{index}": [index % 3 + 1] for index in range(30)}
"""Answers of the levels 1 to 3, one a prompt."""


def index_of(text: str) -> int:
    return int(text.split("-p")[1].split("-")[0])


def two_plans(plans, after=ALL, before=ALL) -> tuple[Path, Path]:
    """Run a by the old judge and b by the new one; return the plans of both."""
    old = Path(shutil.copy(plans.run("a", before, models=["old"]), plans.folder / "old.yaml"))
    return old, plans.run("b", after, models=["new"])


def crossed_report(plans, **levels) -> JudgeDriftReport:
    old, new = two_plans(plans, **levels)
    rejudge(new, store=plans.store, old_judge=old)
    return judge_drift(plans.store)


def only(report: JudgeDriftReport) -> JudgedScoreDrift:
    (score,) = report.scores
    return score


def test_the_old_judge_judges_the_later_answers_once(plans, judges) -> None:
    old, new = two_plans(plans)
    result = rejudge(new, store=plans.store, old_judge=str(old))
    assert [(run.checkpoint, run.facts["pass"]) for run in result.runs] == [("a", 1), ("a", 2), ("b", 3)]
    assert judges.calls == {"old": 30 + 30, "new": 30 + 60}
    rejudge(new, store=plans.store, old_judge=str(old))  # nothing is paid for twice
    assert judges.calls == {"old": 30 + 30, "new": 30 + 60}


def test_an_estimate_counts_the_calls_of_both_judges(plans) -> None:
    old, new = two_plans(plans)
    estimates = estimate_rejudging(new, store=plans.store, old_judge=old)
    assert [(item.backend, item.usage.calls) for item in estimates] == [("new", 60), ("old", 30)]


def test_one_budget_holds_for_both_judges(plans, judges) -> None:
    old, new = two_plans(plans)
    new_judge = 60 * 0.00012  # 100 tokens in, 20 out, at 1 a million
    result = rejudge(new, store=plans.store, old_judge=old, options=RunOptions(budget=new_judge + 0.0009))
    assert result.out_of_budget
    assert judges.calls["old"] < 30 + 30


def test_a_judge_that_raises_only_the_later_answers_is_not_taken_for_a_better_model(plans, judges) -> None:
    judges.shift = lambda model, text, level: (
        level + (model == "new" and text.startswith("b") and index_of(text) % 2 == 0)
    )
    score = only(crossed_report(plans))
    assert (score.verdict, score.model.difference, score.judge.difference) == ("judge drifted", 0, 0)
    assert score.interaction.difference == pytest.approx(0.125)
    assert (score.then, score.crossed, score.again, score.now) == (0.5, 0.5, 0.5, pytest.approx(0.625))
    assert score.length is None


def test_a_lower_model_is_measured_by_the_old_judge(plans, judges) -> None:
    judges.shift = lambda model, text, level: level + (model == "new" and text.startswith("b"))
    lower = {name: [level - 1] for name, [level] in ALL.items()}
    score = only(crossed_report(plans, after=lower))  # the new judge hides the fall
    assert (score.verdict, score.model.difference) == ("both", -0.25)
    assert score.now == score.again


def test_an_old_judge_of_another_name_behind_the_endpoint_is_not_used(plans, judges) -> None:
    old, new = two_plans(plans)
    judges.returned["old"] = "old-2"
    rejudge(new, store=plans.store, old_judge=old)
    score = only(judge_drift(plans.store))
    assert [tuple(item) for item in score.old_conflicts] == [("model", "old-1", "old-2")]
    assert (score.interaction, score.crossed) == (None, None)


def test_a_judge_that_never_judged_the_earlier_run_is_refused_before_it_is_paid(plans, judges) -> None:
    _, new = two_plans(plans)
    paid = judges.calls.total()
    with pytest.raises(ConfigError, match="the old judge did not judge a: it is .*new.* was .*old"):
        rejudge(new, store=plans.store, old_judge=new)
    assert judges.calls.total() == paid


def test_verdicts_of_the_old_judge_count_for_their_pair_of_runs_only(plans) -> None:
    crossed_report(plans)
    assert judge_drift(plans.store, "b", "a").crossed is None
    plans.run("c", ALL, models=["new"])
    assert judge_drift(plans.store, "a", "c").crossed is None


def test_members_of_a_panel_are_crossed_one_by_one(plans, judges) -> None:
    judges.shift = lambda model, text, level: level + (model == "new" and text.startswith("b"))
    old = Path(shutil.copy(plans.run("a", ALL, models=["old", "x"]), plans.folder / "old.yaml"))
    rejudge(plans.run("b", ALL, models=["new", "x"]), store=plans.store, old_judge=old)
    _, *members = judge_drift(plans.store).scores
    changes = {item.label: item.interaction.difference for item in members}
    assert changes == {"replay/new": 0.25, "replay/x": 0}

"""What is said of two checkpoints whose answers were judged again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hengwen import JudgeDriftReport, judge_drift, rejudge, run_plan
from hengwen.documents.judge_drift import judge_drift_document
from hengwen.documents.render.markdown import to_markdown
from hengwen.errors import ConfigError
from hengwen.monitoring.judge_drift.report import pair_of_report
from hengwen.monitoring.judge_drift.verdicts import JudgedScoreDrift

pytestmark = pytest.mark.slow

MANY = {f"p{index}": [index % 4 + 1] for index in range(150)}
"""Answers of the levels 1 to 4, one a prompt."""


def lowered(answers, every: int):
    """Lower every n-th answer by one level."""
    return {
        name: [level - (index % every == 0) for level in levels]
        for index, (name, levels) in enumerate(answers.items())
    }


def evaluate(plans, before=MANY, after=MANY, **options) -> JudgeDriftReport:
    """Run two checkpoints, judge the first one's answers again, and return the report."""
    plans.run("a", before, **options)
    rejudge(plans.run("b", after, **options), store=plans.store)
    return judge_drift(plans.store)


def only(report: JudgeDriftReport) -> JudgedScoreDrift:
    (score,) = report.scores
    return score


def change_judge(judges, every: int = 5, model: str = "m") -> None:
    """Lower every n-th verdict of a model by one level from now on."""
    judges.shift = lambda name, text, level: (
        level - (name == model and int(text.split("-p")[1].split("-")[0]) % every == 0)
    )


def test_nothing_changed_is_stable(plans) -> None:
    score = only(evaluate(plans))
    assert (score.verdict, score.arm, score.margin) == ("stable", "re-judged", 0.04)
    assert (score.model.difference, score.judge.difference) == (0, 0)
    assert (score.model.prompts, score.judge.prompts) == (150, 150)


def test_a_drift_report_of_two_runs_compares_these_two(plans) -> None:
    for name in "abc":
        plans.run(name, {"p0": [1], "p1": [2]})

    def names(*chosen: str) -> tuple[str, str]:
        pair = pair_of_report(plans.store, chosen, None, None)
        return pair.before.checkpoint, pair.after.checkpoint

    assert names("a", "b") == ("a", "b")
    assert names("a", "b", "c") == ("b", "c")
    assert names("b") == ("a", "b")


def test_a_lower_model_is_told_from_a_lower_judge(plans) -> None:
    score = only(evaluate(plans, after=lowered(MANY, 3)))
    assert (score.verdict, score.judge.difference) == ("model drifted", 0)
    assert score.model.difference == pytest.approx(-0.25 / 3)
    assert score.then == score.again
    assert score.now == pytest.approx(score.again - 0.25 / 3)


def test_a_lower_judge_is_told_from_a_lower_model(plans, judges) -> None:
    plans.run("a", MANY)
    change_judge(judges)
    rejudge(plans.run("b", MANY), store=plans.store)
    score = only(judge_drift(plans.store))
    assert (score.verdict, score.model.difference) == ("judge drifted", 0)
    assert score.judge.difference == pytest.approx(-0.05)


def test_both_are_named_where_both_are_clear(plans, judges) -> None:
    plans.run("a", MANY)
    change_judge(judges)
    rejudge(plans.run("b", lowered(MANY, 2)), store=plans.store)
    assert only(judge_drift(plans.store)).verdict == "both"


def test_few_prompts_cannot_tell_and_say_how_many_it_takes(plans) -> None:
    score = only(evaluate(plans, *[dict(list(MANY.items())[:20])] * 2))
    assert (score.verdict, score.reason) == ("cannot tell", "not enough evidence")
    assert 100 <= score.prompts_needed <= 105


def test_five_prompts_are_too_few_for_any_result(plans) -> None:
    score = only(evaluate(plans, *[dict(list(MANY.items())[:5])] * 2))
    assert (score.verdict, score.reason, score.model.p_adjusted) == ("cannot tell", "too few", None)


def test_one_checkpoint_has_no_verdict(plans) -> None:
    plans.run("a", MANY)
    report = judge_drift(plans.store)
    assert (report.problem, report.before, report.scores) == ("one checkpoint", None, ())


def test_no_runs_are_an_error(plans) -> None:
    with pytest.raises(ConfigError, match=r"no runs in .*; see: hengwen run"):
        judge_drift(plans.store)


def test_runs_without_judges_have_no_judged_scores(plans) -> None:
    for name in "ab":
        plans.run(name, MANY, judges=[], scorers=["length"])
    assert judge_drift(plans.store).problem == "no judged scores"


def test_without_new_verdicts_and_anchors_there_is_no_verdict(plans) -> None:
    for name in "ab":
        plans.run(name, MANY)
    score = only(judge_drift(plans.store))
    assert (score.verdict, score.reason, score.arm) == ("cannot tell", "not judged again", None)


def test_new_verdicts_count_for_the_run_for_which_they_were_made(plans) -> None:
    evaluate(plans)
    plans.run("c", MANY)
    assert only(judge_drift(plans.store)).reason == "not judged again"  # b was not judged again
    assert only(judge_drift(plans.store, "a", "c")).reason == "not judged again"
    assert only(judge_drift(plans.store, "a", "b")).verdict == "stable"


def test_another_model_behind_the_endpoint_breaks_the_series(plans, judges) -> None:
    plans.run("a", MANY)
    judges.returned["m"] = "m-2"
    plan = plans.run("b", MANY)
    score = only(judge_drift(plans.store))
    assert (score.reason, score.verdict) == ("judge changed", "cannot tell")
    assert [tuple(change) for change in score.changes] == [("model", "m-1", "m-2")]
    rejudge(plan, store=plans.store)
    score = only(judge_drift(plans.store))
    assert (score.verdict, score.conflicts) == ("stable", ())
    assert [change.part for change in score.changes] == ["model"]


def test_a_named_checkpoint_is_that_of_the_same_plan(plans) -> None:
    plans.run("a", MANY)
    path = plans.write("a", MANY)
    path.write_text(path.read_text("utf-8").replace("name: p\n", "name: q\n"), "utf-8")
    run_plan(path, store=plans.store)
    plans.run("b", MANY)
    report = judge_drift(plans.store, before="a")
    assert (report.before.plan, report.after.plan) == ("p", "p")
    assert judge_drift(plans.store, before="b", after="a", plan="p").before.plan == "p"


def test_a_changed_prompt_of_the_judge_breaks_the_series(plans) -> None:
    plans.run("a", MANY)
    judges = [
        {"rubric": "persona_generic", "backend": "m", "task_instruction": {"zh": "从严", "en": "be strict"}}
    ]
    plan = plans.run("b", MANY, judges=judges)
    score = only(judge_drift(plans.store))
    assert (score.reason, [change.part for change in score.changes]) == ("judge changed", ["signature"])
    assert score.changes[0].this.startswith("prompt:")
    rejudge(plan, store=plans.store)
    assert only(judge_drift(plans.store)).verdict == "stable"


def test_answers_judged_again_by_another_judge_cannot_be_compared(plans, judges) -> None:
    plans.run("a", MANY)
    plan = plans.run("b", MANY)
    judges.returned["m"] = "m-2"
    rejudge(plan, store=plans.store)
    score = only(judge_drift(plans.store))
    assert (score.verdict, score.reason, score.model) == ("cannot tell", "judges differ", None)
    assert [tuple(change) for change in score.conflicts] == [("model", "m-2", "m-1")]
    assert score.judge.difference == 0


def test_missing_verdicts_give_no_verdict(plans, judges) -> None:
    judges.fails = lambda model, text: text.startswith("b-p1")
    score = only(evaluate(plans))
    assert (score.verdict, score.reason) == ("cannot tell", "missing scores")
    assert score.coverage == pytest.approx(1 - 61 / 150)
    assert score.model.prompts == 89


def test_a_missing_answer_is_a_missing_score(plans) -> None:
    few = dict(list(MANY.items())[:120])
    plans.run("a", MANY)
    rejudge(plans.run("b", few, prompts=list(MANY)), store=plans.store)
    score = only(judge_drift(plans.store))
    assert (score.reason, score.coverage, score.judge.prompts) == ("missing scores", 0.8, 150)


def test_an_answer_without_an_old_verdict_is_left_out_of_the_judges_change(plans, judges) -> None:
    judges.fails = lambda model, text: text in ("a-p1-1", "a-p2-1")
    plans.run("a", MANY)
    judges.fails = lambda model, text: text == "a-p3-1"
    rejudge(plans.run("b", MANY), store=plans.store)
    score = only(judge_drift(plans.store))
    assert (score.judge.prompts, score.model.prompts, score.verdict) == (147, 149, "stable")


def test_repeats_of_the_same_answers_are_compared_although_others_failed(plans, judges) -> None:
    three = {name: [4, 2, 0] for name in MANY}
    judges.fails = lambda model, text: text.endswith("-1")  # the best answer of each prompt
    plans.run("a", three)
    judges.fails = lambda model, text: False
    rejudge(plans.run("b", three), store=plans.store)
    score = only(judge_drift(plans.store))
    assert score.judge.difference == 0
    assert (score.then, score.again, score.now) == (0.25, 0.25, 0.5)
    assert (score.verdict, score.reason) == ("cannot tell", "missing scores")
    assert (score.coverage, score.answer_coverage) == (1.0, pytest.approx(2 / 3))
    sentences = " ".join(to_markdown(judge_drift_document(judge_drift(plans.store)), "en").split())
    assert "100% of the prompts and 66.6% of the answers have the scores to compare" in sentences


def test_unequal_repeats_are_subsampled(plans) -> None:
    score = only(evaluate(plans, {name: levels * 3 for name, levels in MANY.items()}, MANY))
    assert (score.verdict, score.model.difference) == ("stable", 0)


def test_prompts_that_changed_are_left_out(plans) -> None:
    plans.run("a", MANY)
    plan = plans.run("b", MANY, inputs="请问")
    assert judge_drift(plans.store).left_out_prompts == 150
    assert only(judge_drift(plans.store)).reason == "no common prompts"
    with pytest.raises(ConfigError, match="its prompts are not those of the plan"):
        rejudge(plan, store=plans.store)


def test_a_named_score_replaces_those_of_the_summary(plans) -> None:
    evaluate(plans)
    report = judge_drift(plans.store, scores=["t/persona_generic.voice"] * 2)
    assert [(score.address, score.verdict) for score in report.scores] == [
        ("t/persona_generic.voice", "stable")
    ]
    with pytest.raises(
        ConfigError, match=r"no judged score 't/persona_generic.voise'; did you mean 't/perso"
    ):
        judge_drift(plans.store, scores=["t/persona_generic.voise"])


def test_a_run_of_an_older_version_is_compared_by_signatures(plans) -> None:
    evaluate(plans)
    ledger = plans.store.ledger()
    for run in (plans.store.find("a"), plans.store.find("b")):
        ledger.begin(replace(run, facts={}))
    ledger.commit()
    report = judge_drift(plans.store)
    assert (report.unchecked, only(report).verdict) == (("a", "b"), "stable")


def test_the_order_of_checkpoints_is_that_of_their_runs_if_nothing_else_is_known(plans) -> None:
    plans.run("later", MANY)
    plans.run("earlier", MANY)
    report = judge_drift(plans.store)
    assert (report.before.checkpoint, report.after.checkpoint) == ("later", "earlier")


def test_the_final_score_of_a_judge_with_rules_is_reported(plans, judges) -> None:
    score = only(evaluate(plans, rules=[{"number": {}}]))
    assert score.address == "t/persona_generic.final"
    assert score.verdict == "stable"


def test_an_answer_that_both_checkpoints_gave_is_no_change_of_the_model(plans, judges) -> None:
    """Its verdict in the later run is the stored reply of the earlier run, so it is as old as that."""
    plans.run("a", MANY, author="both")
    change_judge(judges, every=2)
    plan = plans.run("b", MANY, author="both")
    assert judges.calls["m"] == 150
    rejudge(plan, store=plans.store)
    score = only(judge_drift(plans.store))
    assert (score.verdict, score.model.difference) == ("judge drifted", 0)
    assert score.judge.difference == pytest.approx(-0.125)

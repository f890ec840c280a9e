"""Judge drift as a document: every verdict and every reason, in both languages."""

from __future__ import annotations

import re
from typing import Any, get_args

from judge_drifts import CROSSED, effect, report, score
from printed import printed
from rows import each_row

from hengwen.documents.judge_drift import judge_drift_document
from hengwen.monitoring.judge_drift.verdicts import (
    AnchorAgreement,
    DriftVerdict,
    JudgedScoreDrift,
    Reason,
    decide,
)
from hengwen.records import Run
from hengwen.results.comparability import Difference


def words(*scores: JudgedScoreDrift, language="en", **fields) -> str:
    return printed(judge_drift_document(report(*scores, **fields)), language)


def test_a_judge_that_drifted_in_english() -> None:
    lines = words(score(verdict="judge drifted")).splitlines()
    assert lines[0] == "judge drift: a → b"
    times = "a: answers judged again at 2026-01-02 11:30:00 UTC; b: run began at 2026-01-02 10:00:00 UTC"
    assert times in lines
    assert "· t/j.level: judge drifted" in lines
    rows = [line.split() for line in lines if line.startswith("t/j.level ")]
    shared = ["0.03", "60", "judge", "drifted"]
    assert [[cell for cell in row if not re.search("[│●]", cell)] for row in rows] == [
        ["t/j.level", "judge", "0.70", "0.65", "−0.05", "[−0.07,", "−0.03]", ".001", *shared],
        ["t/j.level", "model", "0.65", "0.65", "0.00", "[−0.02,", "0.02]", ".400", *shared],
    ]
    assert any(line.startswith("change of the judge: the same answers of a, judged again") for line in lines)


def test_a_judge_that_drifted_in_chinese() -> None:
    text = words(score(verdict="judge drifted"), language="zh")
    assert text.startswith("评审漂移：a → b\n")
    assert "a 的回答重新评审于 2026-01-02 11:30:00 UTC，b 的运行开始于 2026-01-02 10:00:00 UTC" in text
    assert "· t/j.level：评审变了" in text
    assert "评审的变化：a 的同样回答，重新评审减去当时；模型的变化：b 减去重新评审的 a" in text


@each_row("language", ["zh", "en"])
def test_every_reason_and_every_verdict_has_its_own_words(language: str) -> None:
    reasons = [reason for reason in get_args(Reason) if reason]
    untested = [score(reason=reason, judge=None, model=None) for reason in reasons]
    assert len({words(item, language=language) for item in untested}) == len(reasons)
    verdicts = get_args(DriftVerdict)
    assert len({words(score(verdict=verdict), language=language) for verdict in verdicts}) == len(verdicts)


def test_not_enough_evidence_names_the_number_it_takes() -> None:
    text = words(score(reason="not enough evidence"))
    assert "no change is seen, but one above 0.040 cannot be excluded; if there is none, about 155 " in text
    by_anchors = score(reason="not enough evidence", arm="anchors", judge=effect(anchors_needed=280))
    assert 'about 155 prompts and 280 anchors are needed to say "stable"' in words(by_anchors)


def test_equal_p_values_are_not_said_to_show_no_change() -> None:
    tied = decide([score(judge=effect(-0.05, 0.02), model=effect(0.05, 0.02))])[0]
    assert (tied.verdict, tied.reason) == ("cannot tell", "equal evidence")
    text = words(tied)
    assert "no change is seen" not in text
    assert (
        "the model or the judge changed, but both p are equal, so nothing shows which; more prompts" in text
    )
    assert "模型或评审变了，但两个 p 相同，看不出是哪一个" in words(tied, language="zh")


@each_row(
    ("fields", "zh", "en"),
    [
        ({}, "各题变化全部相同", "every prompt changed by the same amount"),
        ({"prompts": 0, "anchors": 9}, "各锚点变化全部相同", "every anchor changed by the same amount"),
        (
            {"clusters": 1},
            "未知：只有一组互相独立的题目",
            "not known: only one independent group",
        ),
    ],
)
def test_without_a_visible_change_the_reason_is_right(fields, zh: str, en: str) -> None:
    item = score(judge=effect(detectable=None, **fields))
    assert en in words(item)
    assert zh in words(item, language="zh")


def test_runs_of_older_versions_are_named() -> None:
    text = "run by an older version, so whether the judge's settings changed is not known: a"
    assert text in words(score(), unchecked=("a",))
    assert "由旧版本运行，评审的设置是否变过无从得知：a" in words(score(), unchecked=("a",), language="zh")


def test_stable_shows_the_intervals_that_decide() -> None:
    text = words(score(verdict="stable", judge=effect(0.0), model=effect(0.01)))
    assert "both 90% intervals lie within ±0.040: judge [−0.015, 0.015], model [−0.005, 0.025]" in text


def test_the_old_judge_on_later_answers_has_a_row_and_measures_the_model() -> None:
    item = score(interaction=effect(0.09, 0.002), crossed=0.72, now=0.79, verdict="judge drifted")
    text = words(item, crossed=CROSSED)
    assert "b: answers judged by the old judge at 2026-01-02 12:30:00 UTC" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("t/j.level ")]
    assert rows[1][:6] == ["t/j.level", "judge", "(later", "-", "earlier)", "–"]
    assert rows[2][:4] == ["t/j.level", "model", "0.70", "0.72"]
    assert "change of the model: b minus a, both by the old judge" in text
    assert "模型的变化：b 减去 a，都由原来的评审打分" in words(item, crossed=CROSSED, language="zh")
    stable = score(interaction=effect(0.0), verdict="stable")
    assert "all three 90% intervals lie within" in words(stable)


def test_an_old_judge_that_is_not_what_it_was_is_said() -> None:
    text = words(score(old_conflicts=(Difference("model", "m-1", "m-2"),)))
    assert "the old judge is not what it was: model m-1 → m-2; its verdicts on the later answers" in text


def test_a_second_change_that_is_not_clear_enough_is_mentioned() -> None:
    text = words(score(verdict="judge drifted", model=effect(-0.06, 0.03)))
    assert "the model may have changed too, but its p is above 0.005, the limit for naming both" in text
    text = words(score(verdict="model drifted", judge=effect(-0.06, 0.03)))
    assert "the judge may have changed too" in text


def test_changed_settings_are_shown_without_control_characters() -> None:
    changes = (Difference("model", "m-1", "m\x1b[31m-2"),)
    text = words(score(verdict="judge drifted", changes=changes))
    assert "the judge's model changed: m-1 → " in text
    assert "\x1b" not in text
    conflicts = (Difference("endpoint", "x", "y"),)
    text = words(score(reason="judges differ", conflicts=conflicts))
    assert "endpoint: x where judged again, y in the later run" in text


def test_anchors_and_members_have_lines_of_their_own() -> None:
    agreement = AnchorAgreement(anchors=1, error_then=0.1, error_now=0.15, p=0.04)
    member = score(
        family="member",
        label="openai/strict",
        arm="anchors",
        judge=effect(prompts=0, anchors=300),
        agreement=agreement,
    )
    lines = words(score(), member).splitlines()
    assert "◇ panel member openai/strict: cannot tell" in lines
    assert any(
        line.split()[:3] == ["openai/strict", "judge", "–"] and "300 anchors" in line for line in lines
    )
    assert any("change of the scores minus the change of the judge" in line for line in lines)
    line = (
        "  on 1 anchor, the mean difference between judge and people 0.100 → 0.150, p = .040, not corrected"
    )
    assert line in lines


def test_the_head_names_what_is_left_out_unfinished_and_corrected() -> None:
    unfinished = Run(id="r3", plan="p", plan_hash="", checkpoint="a", rejudges="r1", status="interrupted")
    others = score(address="t/k.level"), score(address="t/m.level", model=effect(p_adjusted=None))
    text = words(score(), *others, again=unfinished, left_out_prompts=1)
    assert "judging again is not finished; the same command resumes it" in text
    assert "1 prompt that differs between the runs is left out" in text
    assert "p corrected by Holm for 2 scores" in text


@each_row("problem", ["one checkpoint", "no judged scores"])
def test_a_problem_stands_alone(problem: str) -> None:
    text = words(problem=problem, before=None, again=None)
    assert [line for line in text.splitlines() if line][1:] == [
        {
            "one checkpoint": "there is one checkpoint, so there are no earlier answers",
            "no judged scores": "there are no scores by a judge",
        }[problem]
    ]


def test_the_record_has_everything() -> None:
    item = score(verdict="judge drifted", changes=(Difference("model", "m-1", "m-2"),))
    record: Any = judge_drift_document(report(item)).record
    assert [record[name]["id"] for name in ("before", "after", "again")] == ["r1", "r2", "r3"]
    (entry,) = record["scores"]
    assert entry["verdict"] == "judge drifted"
    assert entry["judge"]["interval_90"] == (-0.065, -0.035)
    assert entry["changes"] == [{"part": "model", "this": "m-1", "that": "m-2"}]
    assert entry["prompts_needed"] == 155


def test_the_record_of_one_checkpoint_has_no_earlier_run() -> None:
    record = judge_drift_document(report(before=None, again=None, problem="one checkpoint")).record
    assert (record["before"], record["scores"], record["problem"]) == (None, [], "one checkpoint")

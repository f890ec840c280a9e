"""Judge drift in words and as JSON: every verdict and every reason, in both languages."""

from __future__ import annotations

import io
import json
from typing import get_args

import pytest
from rich.console import Console
from rows import each_row

from hengwen import JudgeDriftReport
from hengwen.cli.monitoring.judge_drift_table import judge_drift_document, print_judge_drift
from hengwen.monitoring.judge_drift.effects import Effect
from hengwen.monitoring.judge_drift.verdicts import (
    AnchorAgreement,
    DriftVerdict,
    JudgedScoreDrift,
    Reason,
    decide,
)
from hengwen.records import Run, Scale
from hengwen.results.comparability import Difference

BEFORE = Run(id="r1", plan="p", plan_hash="", checkpoint="a", started="2026-01-01T10:00:00+00:00")
AFTER = Run(id="r2", plan="p", plan_hash="", checkpoint="b", started="2026-01-02T10:00:00+00:00")
AGAIN = Run(
    id="r3",
    plan="p",
    plan_hash="",
    checkpoint="a",
    started="2026-01-02T11:30:00+00:00",
    rejudges="r1",
    status="finished",
)


def effect(difference: float = -0.05, p: float = 0.001, **fields) -> Effect:
    values = {
        "difference": difference,
        "p": p,
        "p_adjusted": p,
        "interval": (difference - 0.02, difference + 0.02),
        "interval_90": (difference - 0.015, difference + 0.015),
        "prompts": 60,
        "clusters": 60,
        "error": 0.01,
        "freedom": 59,
        "detectable": 0.029,
        "prompts_needed": 155,
    }
    return Effect(**{**values, **fields})


def score(**fields) -> JudgedScoreDrift:
    values = {
        "address": "t/j.level",
        "arm": "re-judged",
        "scale": Scale(low=0, high=1),
        "margin": 0.04,
        "judge": effect(),
        "model": effect(0.0, 0.4),
        "then": 0.7,
        "again": 0.65,
        "now": 0.65,
    }
    return JudgedScoreDrift(**{**values, **fields})


def words(*scores: JudgedScoreDrift, language="en", **fields) -> str:
    values = {"before": BEFORE, "after": AFTER, "again": AGAIN, "scores": scores}
    text = io.StringIO()
    print_judge_drift(
        JudgeDriftReport(**{**values, **fields}), language, Console(file=text, width=300, highlight=False)
    )
    return text.getvalue()


def test_a_judge_that_drifted_in_english() -> None:
    assert words(score(verdict="judge drifted")) == (
        "judge drift: a → b\n"
        "a: answers judged again at 2026-01-02 11:30:00 UTC; b: run began at 2026-01-02 10:00:00 UTC\n"
        "t/j.level: judge drifted\n"
        "  judge: 0.700 → 0.650 on the same answers of a, change -0.050 [-0.070, -0.030], p = .0010, "
        "60 prompts, smallest detectable change 0.029\n"
        "  model: 0.650 → 0.650, both by the present judge, change 0.000 [-0.020, 0.020], p = .40, "
        "60 prompts, smallest detectable change 0.029\n"
    )


def test_a_judge_that_drifted_in_chinese() -> None:
    assert words(score(verdict="judge drifted"), language="zh") == (
        "评审漂移：a → b\n"
        "a 的回答重新评审于 2026-01-02 11:30:00 UTC，b 的运行开始于 2026-01-02 10:00:00 UTC\n"
        "t/j.level: 评审变了\n"
        "  评审：a 的同样回答，0.700 → 0.650，变化 -0.050 [-0.070, -0.030]，p = .0010，60 题，"
        "可检出的最小变化 0.029\n"
        "  模型：0.650 → 0.650（新旧回答都由现在的评审打分），变化 0.000 [-0.020, 0.020]，p = .40，60 题，"
        "可检出的最小变化 0.029\n"
    )


@each_row("language", ["zh", "en"])
@each_row("reason", [reason for reason in get_args(Reason) if reason])
def test_every_reason_has_a_sentence(reason: str, language: str) -> None:
    text = words(score(reason=reason, judge=None, model=None), language=language, again=None)
    assert len(text.splitlines()) == 3


@each_row("language", ["zh", "en"])
@each_row("verdict", get_args(DriftVerdict))
def test_every_verdict_has_a_word(verdict: str, language: str) -> None:
    assert words(score(verdict=verdict), language=language)


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


@pytest.mark.parametrize(
    ("fields", "zh", "en"),
    [
        ({}, "各题变化全部相同", "every prompt changed by the same amount"),
        ({"prompts": 0, "anchors": 9}, "各锚点变化全部相同", "every anchor changed by the same amount"),
        (
            {"clusters": 1},
            "只有一组互相独立的题目，不知能看出多大的变化",
            "only one independent group, so the smallest detectable change is not known",
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
    assert "both 90% intervals lie within ±0.040: judge [-0.015, 0.015], model [-0.005, 0.025]" in text


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
        family="member", label="openai/strict", arm="anchors", judge=effect(anchors=300), agreement=agreement
    )
    lines = words(score(), member).splitlines()
    assert "  openai/strict: cannot tell" in lines
    assert any(line.startswith("    judge: on the same 300 anchors, change -0.050") for line in lines)
    assert any("minus the change of the judge, change 0.000" in line for line in lines)
    line = "    on 1 anchor, the mean difference between judge and people 0.100 → 0.150, p = .040"
    assert lines[-1] == f"{line}, not corrected"


def test_the_head_names_what_is_left_out_unfinished_and_corrected() -> None:
    unfinished = Run(id="r3", plan="p", plan_hash="", checkpoint="a", rejudges="r1", status="interrupted")
    others = score(address="t/k.level"), score(address="t/m.level", model=effect(p_adjusted=None))
    text = words(score(), *others, again=unfinished, left_out_prompts=1)
    assert "judging again is not finished; the same command resumes it" in text
    assert "1 prompt that differs between the runs is left out" in text
    assert "p corrected by Holm for 2 scores" in text


@pytest.mark.parametrize("problem", ["one checkpoint", "no judged scores"])
def test_a_problem_stands_alone(problem: str) -> None:
    assert len(words(problem=problem, before=None, again=None).splitlines()) == 2


@pytest.mark.slow
def test_json_has_everything() -> None:
    report = JudgeDriftReport(
        before=BEFORE,
        after=AFTER,
        again=AGAIN,
        scores=(score(verdict="judge drifted", changes=(Difference("model", "m-1", "m-2"),)),),
    )
    document = json.loads(json.dumps(judge_drift_document(report), allow_nan=False))
    assert [document[name]["id"] for name in ("before", "after", "again")] == ["r1", "r2", "r3"]
    (entry,) = document["scores"]
    assert entry["verdict"] == "judge drifted"
    assert entry["judge"]["interval_90"] == [-0.065, -0.035]
    assert entry["changes"] == [{"part": "model", "this": "m-1", "that": "m-2"}]
    assert entry["prompts_needed"] == 155


def test_json_of_one_checkpoint_has_no_earlier_run() -> None:
    document = judge_drift_document(JudgeDriftReport(before=None, after=AFTER, problem="one checkpoint"))
    assert (document["before"], document["scores"], document["problem"]) == (None, [], "one checkpoint")

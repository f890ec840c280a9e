"""The scores of several runs: which are headline scores, which are tested, and how their settings differ."""

from __future__ import annotations

import pytest
from score_rows import row_of

from hengwen.records import Run, Scale, Score
from hengwen.results.aggregate import Summary
from hengwen.results.comparability import distinct_parts
from hengwen.results.score_summaries import signature_conflict, task_scores
from hengwen.results.score_table import ScoreTable


def test_anchors_stand_beside_their_human_rows_and_criteria_behind():
    run = Run(id="r", plan="p", plan_hash="", checkpoint="c")
    key = {"run_id": "r", "task": "t", "checkpoint": "c", "repeat": 1, "cluster": "s", "sample_id": "s"}
    names = [
        ("anchor.craft.level", "judge"),
        ("anchor.craft.voice", "judge"),
        ("anchor.craft.form", "judge"),
        ("human.anchor.craft.level", "human"),
        ("human.anchor.craft.form", "human"),
    ]
    table = ScoreTable(
        row_of(**key, outcome=Score(name=name, kind=kind, value=1.0, signature="s")) for name, kind in names
    )
    (task,) = task_scores([run], table)
    assert [s.name for s in task.anchor_heads] == [
        "anchor.craft.level",
        "human.anchor.craft.level",
        "anchor.craft.form",
        "human.anchor.craft.form",
    ]
    assert len(task.anchors) == 5
    assert (task.human_pairs, task.headlines) == ((), ())


def test_of_a_judge_with_rules_the_final_level_is_tested_and_rules_are_no_headline() -> None:
    run = Run(id="r", plan="p", plan_hash="", checkpoint="c")
    key = {"run_id": "r", "task": "t", "checkpoint": "c", "repeat": 1, "cluster": "s", "sample_id": "s"}
    scores = [
        ("alike.similarity", "scorer", "alike|rule:cap|v:1"),
        ("x.level", "judge", "x"),
        ("x.wit", "judge", "x"),
        ("x.final", "judge", "x"),
        ("x.published", "judge", "x"),
    ]
    table = ScoreTable(
        row_of(**key, outcome=Score(name=name, kind=kind, value=1.0, signature=signature))
        for name, kind, signature in scores
    )
    (task,) = task_scores([run], table)
    assert [score.name for score in task.headlines] == ["x.published", "x.level", "x.final"]
    assert [score.name for score in task.tested] == ["x.final"]
    assert [score.name for score in task.others] == ["alike.similarity", "x.wit"]


@pytest.mark.parametrize(
    ("published", "level", "headlines"),
    [
        (7.5, 0.75, ["x.final"]),
        (7.5, 0.9, ["x.level", "x.final"]),
        (6.0, 0.75, ["x.published", "x.final"]),
    ],
)
def test_a_level_or_task_score_that_is_the_final_level_is_no_second_headline(
    published: float, level: float, headlines: list[str]
) -> None:
    run = Run(id="r", plan="p", plan_hash="", checkpoint="c")
    key = {"run_id": "r", "task": "t", "checkpoint": "c", "repeat": 1, "cluster": "s", "sample_id": "s"}
    values = {"x.published": (published, 10), "x.level": (level, 1), "x.final": (0.75, 1)}
    table = ScoreTable(
        row_of(
            **key,
            outcome=Score(name=name, kind="judge", value=value, signature="x", scale=Scale(low=0, high=high)),
        )
        for name, (value, high) in values.items()
    )
    (task,) = task_scores([run], table)
    assert [score.name for score in task.headlines] == headlines
    restating = {score.name: score.restates for score in task.others}
    assert restating == dict.fromkeys(set(values) - set(headlines), "x.final")


def summary(*signatures: str) -> Summary:
    return Summary(
        mean=1.0,
        interval=None,
        confidence=0.95,
        method="none",
        n=4,
        prompts=4,
        clusters=4,
        coverage=1.0,
        signatures=signatures,
    )


def test_mixed_signatures_in_one_run_are_a_conflict() -> None:
    assert "v:2 (a)" in signature_conflict(["a"], [summary("s|v:1", "s|v:2")])


def test_of_many_runs_four_are_named() -> None:
    names = [f"c{i}" for i in range(6)]
    conflict = signature_conflict([*names, "z"], [*(summary("s|v:1") for _ in names), summary("s|v:2")])
    assert conflict == "signatures differ: v:1 (c0, c1, c2, c3 and 2 more); v:2 (z)"


def test_signatures_that_share_everything_are_shown_whole() -> None:
    assert distinct_parts(["a|b", "b|a"]) == ["a|b", "b|a"]

"""Checks of a loaded plan: what is refused, and what is only a warning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hengwen.errors import ConfigError, DataError
from hengwen.plans.plan import load_plan
from hengwen.plans.suite import LoadedPlan, load_suite

LABEL = {"task": "t", "id": "a", "checkpoint": "c", "score": "lyric_craft.level", "value": 0.5}


@pytest.fixture
def load(tmp_path: Path):
    """Write a plan of two samples and one stored answer, and load it with some changes."""

    def write(name: str, *rows: dict[str, Any]) -> None:
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    def load_with(task: dict[str, Any] | None = None, **changes: Any) -> LoadedPlan:
        write("samples.jsonl", {"id": "a"}, {"id": "b"})
        write("c.jsonl", {"id": "a", "output": "x"})
        write("labels.jsonl", {**LABEL, **changes.pop("label", {})})
        spec = {
            "name": "p",
            "tasks": [{"name": "t", "samples": "samples.jsonl", "judges": [{"rubric": "lyric_craft"}]}],
            "checkpoints": [{"name": "c", "responses": "c.jsonl"}],
            **changes,
        }
        spec["tasks"][0] |= task or {}
        (tmp_path / "plan.yaml").write_text(json.dumps(spec), "utf-8")
        return load_suite(load_plan(tmp_path / "plan.yaml"))

    return load_with


def test_samples_without_an_answer_are_a_warning(load) -> None:
    assert load().warnings == (
        "checkpoint 'c' has no answer to 1 of 2 samples of task 't', first 'b': counted as missing",
    )


def test_a_step_that_falls_or_repeats_is_a_warning(load) -> None:
    steps = {"first": 2000, "x": None, "a": 2000, "b": 1000, "c": 3000}
    checkpoints = [
        {"name": name, "responses": "c.jsonl"} | ({} if step is None else {"step": step})
        for name, step in steps.items()
    ]
    warnings = [warning for warning in load(checkpoints=checkpoints).warnings if "step" in warning]
    assert warnings == [
        "step 2000 of 'a' is not above 2000 of 'first': reports order checkpoints by step",
        "step 1000 of 'b' is not above 2000 of 'a': reports order checkpoints by step",
    ]


def test_a_sum_that_cannot_reach_ten_is_a_warning(load) -> None:
    (_, warning) = load({"scale": {"sum_divided_by": 10}}).warnings
    assert "divided by 10 has maximum 0.2, not 10 (10 needs 100 prompts); use the normalised value" in warning


def test_labels_of_other_checkpoints_are_a_warning(load) -> None:
    warnings = load(labels="labels.jsonl", label={"checkpoint": "later"}).warnings
    assert warnings[-1] == "labels of checkpoints that the plan does not have: later"


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ({"task": "tt"}, "labels.jsonl:1: unknown task 'tt'; did you mean 't'"),
        ({"id": "z"}, "labels.jsonl:1: task 't' has no sample 'z'"),
        ({"score": "lyric_craft.levle"}, "labels.jsonl:1: no judge of task 't' gives 'lyric_craft.levle'"),
        ({"value": 0.6}, "labels.jsonl:1: value 0.6 is no level of lyric_craft.level: 0, 0.25, 0.5, 0.75, 1"),
    ],
    ids=["task", "sample", "score", "value"],
)
def test_a_wrong_label_is_named_by_line(load, label: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load(labels="labels.jsonl", label=label)


def test_two_judges_of_one_rubric_need_names(load) -> None:
    judges = [{"rubric": "lyric_craft"}, {"rubric": "lyric_craft"}]
    with pytest.raises(ConfigError, match=r"task 't' gives 'lyric_craft.level' twice; set name: on one"):
        load({"judges": judges})
    assert load({"judges": [judges[0], {**judges[1], "name": "again"}]}).tasks[0].rubrics.keys() >= {
        "lyric_craft.level",
        "again.level",
    }


def test_a_prompt_that_cannot_be_rendered_is_refused_before_any_call(load) -> None:
    target = {"checkpoints": [{"name": "live", "backend": "m"}], "backends": {"m": {"provider": "openai"}}}
    with pytest.raises(ConfigError, match="mood"):
        load({"prompt": {"user": "{{ mood }}"}}, **target)


def test_a_margin_is_for_a_score_by_which_checkpoints_are_compared(load, tmp_path: Path) -> None:
    scorer: dict[str, Any] = {"scorers": [{"length": {}}]}
    assert load(scorer, ship={"not_worse": {"t/lyric_craft.level": 0.1}}).plan.margins
    ruled = load({"rules": ["broken"]}, ship={"not_worse": {"t/lyric_craft.final": 0.1}})
    assert ruled.plan.margins == {"t/lyric_craft.final": 0.1}
    for wrong in ("t/lyric_craft.imagery", "t/lyric_craft.levle", "other/x"):
        with pytest.raises(ConfigError, match=r"plan.yaml:1: checkpoints are not compared by a score"):
            load(ship={"not_worse": {wrong: 0.1}})
    with pytest.raises(ConfigError, match="greater than 0"):
        load(ship={"not_worse": {"t/lyric_craft.level": 0}})


def test_a_plausible_range_lies_on_the_scale_of_a_score_of_answers(load) -> None:
    task: dict[str, Any] = {"scorers": [{"repetition": {}}, {"length": {}}]}
    ranges = {"t/repetition_4.share": [0, 0.5], "t/length.words": [0, 900], "t/lyric_craft.level": [0.25, 1]}
    assert load(task, ranges=ranges).plan.ranges["t/repetition_4.share"] == (0, 0.5)
    for address, ends, message in (
        ("t/length.word", [30, 90], "no score of single answers is 't/length.word'; did you mean"),
        ("t/repetition_4.share", [0, 5], "the range 0 to 5 is not within the scale of the score, 0 to 1"),
        ("t/lyric_craft.level", [-1, 1], "the range -1 to 1 is not within the scale"),
        ("t/length.words", [900, 900], "a range needs two ends, low below high, got 900 and 900"),
    ):
        with pytest.raises(ConfigError, match=rf"plan.yaml:1: {message}"):
            load(task, ranges={address: ends})

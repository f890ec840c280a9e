"""``hengwen init --rubric`` and ``--scorer``: files that a plan can use at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from hengwen.labels.file import LabelFile
from hengwen.prompts import load_rubric


@pytest.mark.slow
def test_a_plan_uses_the_rubric_and_the_scorer_as_they_are_written(hengwen, tmp_path: Path) -> None:
    assert hengwen("init", "--rubric", "--scorer").out == (
        "wrote rubric.yaml; to use it, write in a task of a plan: judges: [{rubric: rubric.yaml}]\n"
        'wrote scorer.py; to use it, write in a task of a plan: scorers: [{"scorer.py:Ending": {}}]\n'
    )
    (tmp_path / "plan.yaml").write_text(
        "name: p\ntasks:\n- name: t\n  samples: s.jsonl\n"
        '  judges: [{rubric: rubric.yaml}]\n  scorers: [{"scorer.py:Ending": {}}]\n'
        "checkpoints: [{name: c, responses: a.jsonl}]\n",
        "utf-8",
    )
    (tmp_path / "s.jsonl").write_text(
        '{"id": "a", "input": "x", "metadata": {"ending": "OK"}}\n{"id": "b", "input": "x"}\n', "utf-8"
    )
    (tmp_path / "a.jsonl").write_text(
        '{"id": "a", "output": "all is ok\\nno"}\n{"id": "b", "output": "no"}\n', "utf-8"
    )
    result = hengwen("run", "plan.yaml", "--trust", "--json").json
    scores = result["runs"][0]["scores"]
    assert (scores["t/ending.share"]["mean"], scores["t/ending.share"]["n"]) == (0.5, 1)
    assert scores["t/my_rubric.level"]["n"] == 2
    assert scores["t/my_rubric.clarity"]["n"] == 2


def test_the_labels_that_are_written_can_hold_how_answers_are_drawn(hengwen, tmp_path: Path) -> None:
    hengwen("init")
    file = LabelFile(tmp_path / "labels.csv")
    assert file.stores_draws
    assert {label.drawn for label in file.labels()} == {""}


def test_the_rubric_is_in_both_languages(hengwen, tmp_path: Path) -> None:
    hengwen("init", "--rubric")
    rubric = load_rubric(tmp_path / "rubric.yaml")
    assert not rubric.is_in_one_language
    assert rubric.rules is not None


def test_a_file_that_is_there_is_kept_unless_forced(hengwen, tmp_path: Path) -> None:
    (tmp_path / "rubric.yaml").write_text("mine", "utf-8")
    done = hengwen("init", "--rubric")
    assert done.code == 2
    assert "rubric.yaml exists; name another folder or use --force" in done.err
    assert (tmp_path / "rubric.yaml").read_text("utf-8") == "mine"


def test_own_files_and_a_persona_are_two_commands(hengwen) -> None:
    done = hengwen("init", "--rubric", "--persona")
    assert done.code == 2
    assert "--rubric and --scorer write one file each, without --persona" in done.err


def test_a_rubric_is_told_all_keys_that_it_lacks(hengwen, plan: Path, tmp_path: Path) -> None:
    (plan.parent / "r.yaml").write_text("name: x\nlevels: {1: {label: A}}\n", "utf-8")
    plan.write_text(plan.read_text("utf-8").replace("rubric: lyric_craft", "rubric: r.yaml"), "utf-8")
    done = hengwen("validate", str(plan))
    assert (
        "r.yaml:1: version, title, instructions: fields required; also missing: levels.1.zh, levels.1.en"
        in done.err
    )

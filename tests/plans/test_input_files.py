"""The files of a plan, which no output may replace."""

from __future__ import annotations

from pathlib import Path

from hengwen.plans.overrides import files_in, input_files
from hengwen.plans.plan import load_plan


def test_the_files_of_a_plan_are_those_of_its_keys_and_options(tmp_path: Path) -> None:
    names = [
        "samples.jsonl",
        "answers.jsonl",
        "labels.csv",
        "rubric.yaml",
        "train.json",
        "replies.jsonl",
        "more.txt",
    ]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / "plan.yaml").write_text(
        f"""
name: p
tasks:
  - name: t
    samples: samples.jsonl
    scorers: [{{mine: {{lists: [{tmp_path / "more.txt"}, 4]}}}}]
    rules: [{{leakage: {{corpus: [train.json]}}}}]
    judges: [{{rubric: rubric.yaml}}]
    prompt: {{system: a text}}
checkpoints: [{{name: c, responses: answers.jsonl}}]
backends: {{b: {{provider: replay, file: replies.jsonl}}}}
labels: labels.csv
anchors: missing.csv
""",
        "utf-8",
    )
    files = input_files(load_plan(tmp_path / "plan.yaml"))
    assert sorted(path.name for path in files) == sorted(names)


def test_a_text_that_can_be_no_path_is_none() -> None:
    assert files_in({"a": "x\x00y", "b": "文" * 900, "c": "", "d": "x" * 2000, "e": None}) == []

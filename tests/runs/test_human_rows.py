"""Human labels become rows beside the judge's scores, unless the labelled answer has changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hengwen.plans.plan import load_plan
from hengwen.plans.suite import load_suite
from hengwen.records import Row, Run, Score
from hengwen.runs.run_plan import run_plan
from hengwen.runs.task_scores import human_rows
from hengwen.store.store import open_store

ANSWERS = {"a": {"x": "天上的云", "y": "水里的星"}, "b": {"x": "窗外有光", "y": "桌上有霜"}}


def label(sample: str = "x", value: float = 0.5, **more: Any) -> dict[str, Any]:
    key = {"task": "t", "id": sample, "checkpoint": "a", "repeat": 1, "score": "lyric_craft.level"}
    return {**key, "value": value, "rater": "ann", "output": "", **more}


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan of two checkpoints, each with two answers."""
    write(
        tmp_path / "prompts.jsonl", [{"id": name, "input": "写一行", "cluster": "c"} for name in ("x", "y")]
    )
    for name, answers in ANSWERS.items():
        write(tmp_path / f"{name}.jsonl", [{"id": name, "output": text} for name, text in answers.items()])
    spec = {
        "name": "p",
        "tasks": [{"name": "t", "samples": "prompts.jsonl", "judges": [{"rubric": "lyric_craft"}]}],
        "checkpoints": [{"name": name, "responses": f"{name}.jsonl"} for name in ANSWERS],
        "labels": "labels.jsonl",
    }
    write(tmp_path / "plan.yaml", [spec])  # JSON is YAML
    return tmp_path / "plan.yaml"


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def rows_of(plan: Path, *labels: dict[str, Any], checkpoint: str = "a") -> tuple[list[Row], list[str]]:
    write(plan.parent / "labels.jsonl", list(labels))
    suite = load_suite(load_plan(plan))
    run = Run(id="r", plan="p", plan_hash="h", checkpoint=checkpoint)
    return human_rows(suite, run, suite.responses[checkpoint])


def values(rows: list[Row]) -> dict[str | None, float]:
    return {row.sample_id: row.outcome.value for row in rows if isinstance(row.outcome, Score)}


def test_a_label_with_the_text_of_the_answer_is_used(plan: Path) -> None:
    rows, warnings = rows_of(plan, label(output=ANSWERS["a"]["x"]), label("y", 0.75))
    assert (values(rows), warnings) == ({"x": 0.5, "y": 0.75}, [])
    assert {(row.run_id, row.task, row.checkpoint, row.repeat, row.cluster) for row in rows} == {
        ("r", "t", "a", 1, "c")
    }
    assert {(row.score.name, row.outcome.kind) for row in rows} == {("human.lyric_craft.level", "human")}


def test_a_label_whose_text_has_changed_since_is_skipped_with_a_warning(plan: Path) -> None:
    rows, warnings = rows_of(plan, label(output="天上的月"), label("y", 0.75, output=ANSWERS["a"]["y"]))
    assert values(rows) == {"y": 0.75}
    assert warnings == ["skipped 1 labels of 'a': the answer has another text now"]


def test_a_label_of_an_answer_that_is_not_there_is_skipped_with_a_warning(plan: Path) -> None:
    rows, warnings = rows_of(plan, label(repeat=2), label("y", repeat=3), label("y", 0.75))
    assert values(rows) == {"y": 0.75}
    assert warnings == ["skipped 2 labels of 'a': no such answer"]


def test_a_label_of_another_checkpoint_is_not_used(plan: Path) -> None:
    other = label("y", 1.0, checkpoint="b", output="another text")
    assert values(rows_of(plan, label(), other)[0]) == {"x": 0.5}
    rows, warnings = rows_of(plan, label(), other, checkpoint="b")
    assert (rows, warnings) == ([], ["skipped 1 labels of 'b': the answer has another text now"])


def test_labels_of_several_raters_are_one_row_with_their_mean(plan: Path) -> None:
    rows, _ = rows_of(plan, label(), label(value=1.0, rater="bob"), label("y", 0.25))
    assert values(rows) == {"x": 0.75, "y": 0.25}
    assert [row.outcome.details["raters"] for row in rows] == [["ann", "bob"], ["ann"]]
    assert all("human|raters:2|" in row.outcome.signature for row in rows)


def test_the_rows_of_all_checkpoints_carry_the_signature_of_the_whole_file(plan: Path) -> None:
    labels = [label(), label(checkpoint="b")]
    signatures = {rows_of(plan, *labels, checkpoint=name)[0][0].outcome.signature for name in ANSWERS}
    assert len(signatures) == 1
    labels[1]["value"] = 0.75
    assert rows_of(plan, *labels)[0][0].outcome.signature not in signatures


def test_in_a_run_a_label_of_a_changed_answer_moves_no_human_score(plan: Path) -> None:
    write(plan.parent / "labels.jsonl", [label(output=ANSWERS["a"]["x"]), label("y", 1.0)])
    before = run_plan(plan, store=plan.parent / "x.db")
    write(plan.parent / "a.jsonl", [{"id": "x", "output": "地上的云"}, {"id": "y", "output": "水里的星"}])
    after = run_plan(plan, store=plan.parent / "x.db")
    with open_store(plan.parent / "x.db") as store:
        human = [
            {
                row.sample_id: row.outcome.value
                for row in store.rows([result.runs[0]])
                if row.outcome.kind == "human"
            }
            for result in (before, after)
        ]
    assert human == [{"x": 0.5, "y": 1.0}, {"y": 1.0}]
    assert before.warnings == ()
    assert after.warnings == ("skipped 1 labels of 'a': the answer has another text now",)

"""What a run records of its plan: name, place, step, seed, reducers, order of scores, and warnings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hengwen.records import Run, Scale, Score
from hengwen.runs.run_plan import RunResult, run_plan
from hengwen.store.store import open_store

LABEL = {"task": "t", "id": "x", "repeat": 1, "score": "lyric_craft.level", "rater": "ann", "value": 0.5}


@pytest.fixture
def result(tmp_path: Path) -> RunResult:
    """Return the result of a plan with two checkpoints, two tasks, labels and an anchor."""
    files: dict[str, Any] = {
        "prompts.jsonl": [{"id": "x", "input": "写一行", "cluster": "k"}],
        "a.jsonl": [{"id": "x", "output": "天上的云", "task": task} for task in ("t", "u")],
        "b.jsonl": [{"id": "x", "output": "水里的星", "task": task} for task in ("t", "u")],
        "labels.jsonl": [
            LABEL | {"checkpoint": "a"},
            LABEL | {"checkpoint": "b", "value": 1.0},
            LABEL | {"checkpoint": "a", "repeat": 2},
        ],
        "anchors.jsonl": [LABEL | {"id": "z", "input": "写一行", "output": "月亮落进井里"}],
        "plan.yaml": [
            {  # JSON is YAML
                "name": "p",
                "seed": 7,
                "tasks": [
                    {
                        "name": "t",
                        "samples": "prompts.jsonl",
                        "scorers": ["length"],
                        "judges": [{"rubric": "lyric_craft"}],
                        "reduce": "worst",
                    },
                    {"name": "u", "samples": "prompts.jsonl", "scorers": ["length"]},
                ],
                "checkpoints": [
                    {"name": "a", "responses": "a.jsonl", "step": 10},
                    {"name": "b", "responses": "b.jsonl", "step": 20},
                ],
                "labels": "labels.jsonl",
                "anchors": "anchors.jsonl",
            }
        ],
    }
    for name, rows in files.items():
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        (tmp_path / name).write_text("\n".join(lines), "utf-8")
    return run_plan(tmp_path / "plan.yaml", store=tmp_path / "x.db")


def human_scores(store_path: str, run: Run) -> dict[tuple[str, str | None], tuple[float, Scale | None]]:
    with open_store(store_path) as store:
        return {
            (row.score.name, row.sample_id): (row.outcome.value, row.outcome.scale)
            for row in store.rows([run])
            if row.outcome.kind == "human" and isinstance(row.outcome, Score)
        }


def test_each_run_has_the_place_and_the_settings_of_its_checkpoint(result: RunResult) -> None:
    recorded = [(run.plan, run.checkpoint, run.order, run.step, run.seed, run.status) for run in result.runs]
    assert recorded == [("p", "a", 0, 10, 7, "finished"), ("p", "b", 1, 20, 7, "finished")]
    assert [dict(run.reducers) for run in result.runs] == [{"t": "worst"}] * 2


def test_scores_are_in_the_order_of_tasks_scorers_and_judges(result: RunResult) -> None:
    order = result.runs[0].score_order
    scorers = [name for name in order if name.startswith("t/length")]
    judged = [name.removeprefix("t/") for name in order if name.startswith("t/lyric_craft")]
    expected = [*scorers, *(f"t/{name}" for name in judged)]
    assert "lyric_craft.level" in judged
    assert list(order) == [*expected, *(name.replace("t/", "u/", 1) for name in scorers)]


def test_labels_and_anchors_are_human_scores_on_the_scale_of_the_rubric(
    result: RunResult, tmp_path: Path
) -> None:
    for run, value in zip(result.runs, (0.5, 1.0), strict=True):
        scores = human_scores(str(tmp_path / "x.db"), run)
        assert {key: score for key, (score, _) in scores.items()} == {
            ("human.lyric_craft.level", "x"): value,
            ("human.anchor.lyric_craft.level", "z"): 0.5,
        }
        assert {(scale.low, scale.high) if scale else None for _, scale in scores.values()} == {(0, 1)}


def test_labels_that_cannot_be_used_are_warnings_of_the_result(result: RunResult) -> None:
    assert result.warnings == ("skipped 1 labels of 'a': no such answer",)

"""Which run resumes: the hash of a plan changes with everything that determines rows, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hengwen.errors import TimeLimitError
from hengwen.plans.plan import load_plan
from hengwen.records import Run
from hengwen.runs.options import RunOptions
from hengwen.runs.run_plan import RunResult, run_plan
from hengwen.store.store import open_store

Change = Callable[[dict[str, Any]], None]
TEMPLATE = "(verse)\ncccR\ncccR"


def files() -> dict[str, Any]:
    """A plan with samples, stored answers, labels and anchors, as plain values by file name."""
    label = {"task": "lyrics", "id": "x", "repeat": 1, "score": "lyric_craft.level", "rater": "ann"}
    return {
        "plan.yaml": {
            "name": "p",
            "tasks": [
                {
                    "name": "lyrics",
                    "samples": "prompts.jsonl",
                    "scorers": ["lyric", "distinct_n"],
                    "judges": [{"rubric": "lyric_craft"}],
                }
            ],
            "checkpoints": [
                {"name": "a", "responses": "a.jsonl", "step": 1},
                {"name": "b", "responses": "b.jsonl", "step": 2},
            ],
            "labels": "labels.jsonl",
            "anchors": "anchors.jsonl",
        },
        "prompts.jsonl": [
            {"id": name, "input": "写两行", "metadata": {"template": TEMPLATE}} for name in ("x", "y")
        ],
        "a.jsonl": [{"id": "x", "output": "天上的云\n水里的星"}, {"id": "y", "output": "没有结构"}],
        "b.jsonl": [{"id": "x", "output": "窗外有光\n桌上有霜"}, {"id": "y", "output": "风往南走"}],
        "labels.jsonl": [{**label, "checkpoint": "a", "value": 0.5}],
        "anchors.jsonl": [
            {**label, "id": "z", "input": "写一行", "output": "月亮落进井里", "value": 0.75}
            | {"metadata": {"template": TEMPLATE}}
        ],
    }


def write(folder: Path, contents: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in contents.items():
        rows = content if isinstance(content, list) else [content]  # JSON is YAML
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / name).write_text(text, "utf-8")
    return folder / "plan.yaml"


def run(folder: Path, contents: dict[str, Any], **options: Any) -> RunResult:
    """Run the plan, once more where it is in the folder already, into the store beside the folder."""
    return run_plan(
        load_plan(write(folder, contents)),
        store=folder.parent / f"{folder.name}.db",
        options=RunOptions(**options),
    )


def first_run(folder: Path, change: Change | None = None, make: Callable[[], dict[str, Any]] = files) -> Run:
    """Return the run of the first checkpoint in a store of its own, after a change of the files."""
    contents = make()
    if change is not None:
        change(contents)
    return run(folder, contents).runs[0]


def set_value(*path: str | int, value: Any) -> Change:
    def change(contents: dict[str, Any]) -> None:
        target: Any = contents
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = value

    return change


CHANGES = {
    "text of a stored answer": set_value("a.jsonl", 1, "output", value="没有结构。"),
    "samples of two stored answers": lambda contents: [
        set_value("a.jsonl", 0, "id", value="y")(contents),
        set_value("a.jsonl", 1, "id", value="x")(contents),
    ],
    "repeat of a stored answer": set_value("a.jsonl", 1, "repeat", value=2),
    "a stored answer less": lambda contents: contents["a.jsonl"].pop(),
    "value of a label": set_value("labels.jsonl", 0, "value", value=0.75),
    "rater of a label": set_value("labels.jsonl", 0, "rater", value="bob"),
    "a label less": lambda contents: contents["plan.yaml"].pop("labels"),
    "value of an anchor": set_value("anchors.jsonl", 0, "value", value=0.5),
    "text of an anchor": set_value("anchors.jsonl", 0, "output", value="月亮落进水里"),
    "input of a sample": set_value("prompts.jsonl", 0, "input", value="写三行"),
    "name of the plan": set_value("plan.yaml", "name", value="q"),
    "name of the task": lambda contents: [
        set_value("plan.yaml", "tasks", 0, "name", value="songs")(contents),
        set_value("labels.jsonl", 0, "task", value="songs")(contents),
        set_value("anchors.jsonl", 0, "task", value="songs")(contents),
    ],
    "option of a scorer": set_value(
        "plan.yaml", "tasks", 0, "scorers", 0, value={"lyric": {"rules": "muchin"}}
    ),
    "a set scorer less": set_value("plan.yaml", "tasks", 0, "scorers", value=["lyric"]),
    "another judge": lambda contents: [
        contents["plan.yaml"].pop("labels"),
        contents["plan.yaml"].pop("anchors"),
        set_value("plan.yaml", "tasks", 0, "judges", 0, "rubric", value="persona_generic")(contents),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_hash_changes_with_everything_that_determines_the_rows(tmp_path: Path, change: Change) -> None:
    before, after = first_run(tmp_path / "before"), first_run(tmp_path / "after", change)
    assert before.plan_hash != after.plan_hash


def generated() -> dict[str, Any]:
    """A plan whose answers come from a backend (none is recorded: every answer is a failure)."""
    contents = files()
    prompt = {"user": "{{ input }}"}
    task = {
        "name": "lyrics",
        "samples": "prompts.jsonl",
        "scorers": ["lyric"],
        "repeats": 1,
        "prompt": prompt,
    }
    contents["plan.yaml"] = {
        "name": "p",
        "tasks": [task],
        "checkpoints": [{"name": "a", "backend": "one"}, {"name": "b", "responses": "b.jsonl"}],
        "backends": {
            name: {"provider": "replay", "file": "replies.jsonl", "model": name} for name in ("one", "two")
        },
    }
    contents["replies.jsonl"] = [{"messages": [["user", "?"]], "text": "!"}]
    return contents


CHANGES_OF_GENERATION = {
    "prompt of the task": set_value("plan.yaml", "tasks", 0, "prompt", value={"user": "答：{{ input }}"}),
    "repeats": set_value("plan.yaml", "tasks", 0, "repeats", value=2),
    "prompt of the checkpoint": set_value(
        "plan.yaml", "checkpoints", 0, "prompt", value={"user": "{{ input }}!"}
    ),
    "backend": set_value("plan.yaml", "checkpoints", 0, "backend", value="two"),
    "parameters": set_value("plan.yaml", "backends", "one", "params", value={"temperature": 1}),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES_OF_GENERATION.values(), ids=CHANGES_OF_GENERATION)
def test_the_hash_changes_with_the_way_in_which_answers_are_generated(tmp_path: Path, change: Change) -> None:
    before = first_run(tmp_path / "before", make=generated)
    after = first_run(tmp_path / "after", change, generated)
    assert before.plan_hash != after.plan_hash


UNRELATED = {
    "nothing": lambda contents: None,
    "answers of another checkpoint": set_value("b.jsonl", 1, "output", value="雨往北流"),
    "another checkpoint": lambda contents: contents["plan.yaml"]["checkpoints"].append(
        {"name": "c", "responses": "b.jsonl"}
    ),
    "seed": set_value("plan.yaml", "seed", value=7),
    "step": set_value("plan.yaml", "checkpoints", 0, "step", value=7),
    "names of files": lambda contents: [
        contents.update({"other.jsonl": contents["a.jsonl"]}),
        set_value("plan.yaml", "checkpoints", 0, "responses", value="other.jsonl")(contents),
    ],
    "repeats of stored answers": set_value("plan.yaml", "tasks", 0, "repeats", value=2),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", UNRELATED.values(), ids=UNRELATED)
def test_the_hash_does_not_change_with_anything_else(tmp_path: Path, change: Change) -> None:
    before, after = first_run(tmp_path / "before"), first_run(tmp_path / "after", change)
    assert before.plan_hash == after.plan_hash


def without_anchors() -> dict[str, Any]:
    contents = files()
    del contents["plan.yaml"]["anchors"]
    return contents


@pytest.mark.slow
@pytest.mark.parametrize("name", ["text of a stored answer", "value of a label"])
def test_another_hash_is_another_run_and_the_earlier_run_is_kept(tmp_path: Path, name: str) -> None:
    contents = without_anchors()
    before = run(tmp_path / "p", contents).runs
    CHANGES[name](contents)
    after = run(tmp_path / "p", contents).runs
    assert before[0].id != after[0].id
    with open_store(tmp_path / "p.db") as store:
        assert {run.id for run in store.runs()} == {run.id for run in (*before, *after)}
        assert list(store.rows([before[0]]))


@pytest.mark.slow
def test_the_same_hash_is_the_same_run_with_the_current_step_order_and_seed(tmp_path: Path) -> None:
    contents = without_anchors()
    before = run(tmp_path / "p", contents).runs
    contents["plan.yaml"]["checkpoints"].reverse()
    contents["plan.yaml"]["checkpoints"][1]["step"] = 9
    contents["plan.yaml"]["seed"] = 5
    contents["plan.yaml"]["tasks"][0]["reduce"] = "worst"
    after = run(tmp_path / "p", contents).runs
    assert [run.id for run in after] == [before[1].id, before[0].id]
    assert [(run.order, run.step, run.seed, run.status) for run in after] == [
        (0, 2, 5, "finished"),
        (1, 9, 5, "finished"),
    ]
    assert after[0].reducers == {"lyrics": "worst"}
    assert after[0].started == before[1].started
    with open_store(tmp_path / "p.db") as store:
        assert store.latest() == list(after)


@pytest.mark.slow
def test_a_fresh_run_is_another_run(tmp_path: Path) -> None:
    contents = without_anchors()
    before, after = run(tmp_path / "p", contents), run(tmp_path / "p", contents, fresh=True)
    assert before.runs[0].plan_hash == after.runs[0].plan_hash
    assert before.runs[0].id != after.runs[0].id


@pytest.mark.slow
def test_anchors_are_judged_in_another_run_once_a_run_is_finished(tmp_path: Path) -> None:
    first, second = run(tmp_path / "p", files()), run(tmp_path / "p", files())
    assert first.runs[0].plan_hash == second.runs[0].plan_hash
    assert first.runs[0].id != second.runs[0].id


def test_an_interrupted_run_with_anchors_resumes(tmp_path: Path) -> None:
    with pytest.raises(TimeLimitError):
        run(tmp_path / "p", files(), time_limit=0)
    with open_store(tmp_path / "p.db") as store:
        (interrupted,) = store.runs()
    assert interrupted.status == "interrupted"
    finished = run(tmp_path / "p", files()).runs[0]
    assert (finished.id, finished.status) == (interrupted.id, "finished")


def test_a_run_records_what_it_is(tmp_path: Path) -> None:
    contents = files()
    contents["plan.yaml"]["seed"] = 11
    contents["plan.yaml"]["tasks"][0]["reduce"] = "median"
    first, second = run(tmp_path / "p", contents).runs
    assert [(run.plan, run.checkpoint, run.order, run.step) for run in (first, second)] == [
        ("p", "a", 0, 1),
        ("p", "b", 1, 2),
    ]
    assert (first.seed, first.reducers, first.status) == (11, {"lyrics": "median"}, "finished")
    assert first.started < second.started
    assert first.started.endswith("+00:00")
    assert {"hengwen", "numpy", "jieba", "pypinyin"} <= set(first.versions)
    assert first.score_order[0] == "lyrics/lyric.total"
    assert "lyrics/lyric_craft.level" in first.score_order
    assert len(set(first.score_order)) == len(first.score_order)

"""The four tasks as data, and the suites that are written from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from hengwen.errors import ConfigError
from hengwen.personas import Persona
from hengwen.personas.persona import write_folder
from hengwen.personas.plan_text import PRESETS, TASKS, PlannedTask, plan_text, sampling
from hengwen.personas.suites import SCENES, example_suite, starter_suite
from hengwen.plans.plan import load_plan
from hengwen.plans.suite import load_suite

CHAT = ("broken", "near_duplicate", "target_copy", "plain_text")
TAIL = "checkpoints: [{name: c, responses: c.jsonl}]\n"
SOOT = {"name": "煤球", "voice": "话少。"}
TABLE = {
    "new_topic": ("muice_new_topic", 5, ("broken", "near_duplicate", "plain_text"), ("mean_times", 10)),
    "live": ("muice_live", 3, CHAT, ("mean_times", 10)),
    "emotion": ("muice_live", 3, CHAT, ("mean_times", 10)),
    "comprehensive": ("muice_live", 1, ("broken", "target_copy", "plain_text"), ("sum_divided_by", 10)),
}


def planned(name: str = "live", **overrides: object) -> PlannedTask:
    fields = {"samples": f"{name}.jsonl", "count": 1, "rubric": TASKS[name].rubric, **overrides}
    return PlannedTask(task=TASKS[name], **fields)


def read(*tasks: PlannedTask) -> dict:
    return yaml.safe_load(plan_text(name="x", head=["one", "", "two"], tasks=tasks, tail=TAIL))


def test_the_tasks_are_those_of_the_protocol() -> None:
    assert {
        name: (task.rubric, task.repeats, task.rules, task.scale) for name, task in TASKS.items()
    } == TABLE
    assert [name for name, task in TASKS.items() if task.task_instruction] == ["comprehensive"]


def test_an_unknown_preset_is_told() -> None:
    with pytest.raises(ConfigError, match="unknown preset 'muicebott'; did you mean 'muicebot'"):
        sampling("muicebott")
    assert sampling("provider-default") == {}
    sampling("muicebot")["temperature"] = 2
    assert PRESETS["muicebot"]["temperature"] == 0.75


def test_a_task_is_written_as_the_protocol_has_it() -> None:
    (task,) = read(planned(params={"top_p": 0.9}, preset="mine", has_number=True, corpus="../t.jsonl"))[
        "tasks"
    ]
    assert task == {
        "name": "live",
        "samples": "live.jsonl",
        "prompt": {"system": "live.md.j2", "params": {"top_p": 0.9}},
        "repeats": 3,
        "rules": [*CHAT, "number", {"leakage": {"corpus": "../t.jsonl"}}],
        "judges": [{"rubric": "muice_live"}],
        "scale": {"mean_times": 10},
    }


def test_a_judge_is_written_with_what_it_needs() -> None:
    (task,) = read(planned("comprehensive", backend="judge", language="en"))["tasks"]
    zh, en = TASKS["comprehensive"].task_instruction or ("", "")
    (judge,) = task["judges"]
    assert judge == {
        "rubric": "muice_live",
        "language": "en",
        "task_instruction": {"zh": zh, "en": en},
        "backend": "judge",
    }
    options = {"markers": ["a: b", "c # d", "#e", "是"]}
    for task in read(planned(options=options), planned("emotion", options=options))["tasks"]:
        assert task["judges"][0]["options"] == options


def test_a_task_without_samples_is_a_comment_that_says_why() -> None:
    text = plan_text(
        name="x",
        head=[],
        tasks=[planned(), planned("emotion", count=0, absence_reason="no prompts")],
        tail=TAIL,
    )
    assert [task["name"] for task in yaml.safe_load(text)["tasks"]] == ["live"]
    assert "\n  # emotion is left out: no prompts\n  # - name: emotion " in text


def test_each_rule_is_explained_once() -> None:
    text = plan_text(name="x", head=[], tasks=[planned(), planned("emotion")], tail=TAIL)
    assert text.count("- near_duplicate") == 2
    assert text.count("the first keeps its score") == 1


def test_a_head_cannot_leave_its_comment() -> None:
    text = plan_text(name="x", head=["a\nname: b\u2028c"], tasks=[planned()], tail=TAIL)
    assert yaml.safe_load(text)["name"] == "x"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_starter_suite_loads_with_all_its_tasks(tmp_path: Path, language: str) -> None:
    persona = Persona.model_validate({**SOOT, "language": language, "markers": ["喵"]})
    write_folder(tmp_path, starter_suite(persona))
    suite = load_suite(load_plan(tmp_path / "plan.yaml"))
    counts = {task.spec.name: len(task.samples.samples) for task in suite.tasks}
    assert counts == {"new_topic": 4, "live": 6, "emotion": 5, "comprehensive": 10}
    for sample in suite.tasks[0].samples.samples.values():
        assert sample.metadata["brief"] not in ("", sample.text)
    assert [task.panel[0].spec.options for task in suite.tasks] == [{"markers": ["喵"]}] * 4
    assert suite.warnings == ()


def test_the_example_brings_answers_labels_and_a_brief_for_each_topic(tmp_path: Path) -> None:
    write_folder(tmp_path, example_suite())
    suite = load_suite(load_plan(tmp_path / "plan.yaml"))
    assert [task.spec.name for task in suite.tasks] == list(SCENES)
    assert {name: len(answers) for name, answers in suite.responses.items()} == {
        "day-1": 81,
        "day-2": 81,
        "day-3": 81,
    }
    assert len(suite.labels) >= 100
    for line in (tmp_path / "new_topic.jsonl").read_text("utf-8").splitlines():
        assert len(json.loads(line)["metadata"]["brief"]) > 10
    assert suite.warnings == ()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a file", "utf-8")
    with pytest.raises(ConfigError, match="f: is a file; name a folder"):
        write_folder(tmp_path / "f", {"plan.yaml": "x"})


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/x"])
def test_no_file_is_written_outside_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=f"file name '{name}' leads out of the folder .*new"):
        write_folder(tmp_path / "new", {"plan.yaml": "x", name: "y"}, force=True)
    assert list(tmp_path.iterdir()) == []


def test_no_file_is_written_through_a_linked_folder(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "data").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(
        ConfigError, match="new/data: is a link to .*elsewhere, and nothing is written through"
    ):
        write_folder(tmp_path / "new", {"plan.yaml": "x", "data/a.jsonl": "y"}, force=True)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["data"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_that_cannot_be_written_leaves_all_others_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine", "utf-8")
    (tmp_path / "c").mkdir()
    with pytest.raises(ConfigError, match="c: is a folder; name a file in it"):
        write_folder(tmp_path, {"a": "x", "b": "y", "c": "z", "plan.yaml": "p"}, force=True)
    assert (tmp_path / "a").read_text("utf-8") == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]


def test_files_that_are_there_stop_all_of_them(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("mine", "utf-8")
    with pytest.raises(ConfigError, match="b exists; name another folder or use --force"):
        write_folder(tmp_path, {"a": "x", "b": "y"})
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    write_folder(tmp_path, {"a": "x", "b": b"y"}, force=True)
    assert (tmp_path / "b").read_bytes() == b"y"

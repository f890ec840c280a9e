"""Plans of one name in one store: a report shows one of them, and says which runs it took and left."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slow

SAMPLE = '{{"id": "a", "input": "{}"}}\n'


def write_plan(folder: Path, checkpoint: str, question: str, task: str = "t", name: str = "my-model") -> Path:
    """Write a plan with one question and one stored answer."""
    folder.mkdir()
    (folder / "samples.jsonl").write_text(SAMPLE.format(question), "utf-8")
    (folder / "answers.jsonl").write_text('{"id": "a", "output": "海风吹过灯塔。"}\n', "utf-8")
    plan = {
        "name": name,
        "tasks": [{"name": task, "samples": "samples.jsonl", "scorers": ["length"]}],
        "checkpoints": [{"name": checkpoint, "responses": "answers.jsonl"}],
    }
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan), "utf-8")
    return folder / "plan.yaml"


@pytest.mark.parametrize(
    "other", [{"question": "另一题"}, {"question": "问", "task": "u"}], ids=["prompts", "tasks"]
)
def test_runs_of_another_plan_of_the_same_name_are_left_out_and_named(
    hengwen, tmp_path: Path, other: dict[str, str]
) -> None:
    hengwen("run", write_plan(tmp_path / "one", "early", **other), "--quiet")
    hengwen("run", write_plan(tmp_path / "two", "late", "问"), "--quiet")
    done = hengwen("report", "--json")
    assert done.code == 0
    assert [run["checkpoint"] for run in done.json["runs"]] == ["late"]
    (warning,) = done.json["warnings"]
    assert warning in done.err
    assert "runs named 'my-model' differ in tasks or prompts; this report takes late (" in warning
    assert "and leaves out early (" in warning


def test_named_runs_of_different_plans_are_not_mixed(hengwen, tmp_path: Path) -> None:
    hengwen("run", write_plan(tmp_path / "one", "early", "另一题"), "--quiet")
    hengwen("run", write_plan(tmp_path / "two", "late", "问"), "--quiet")
    done = hengwen("report", "early", "late")
    assert done.code == 2
    assert "runs of 'my-model' differ in tasks or prompts" in done.err
    assert hengwen("report", "early", "--json").json["runs"][0]["checkpoint"] == "early"


def test_a_checkpoint_of_two_plans_is_the_one_of_the_plan_that_is_named(hengwen, tmp_path: Path) -> None:
    for name in ("chat", "lyrics"):
        hengwen("run", write_plan(tmp_path / name, "step-1", "问", name=name), "--quiet")
    assert hengwen("report", "step-1", "--json").json["plan"] == "lyrics"
    assert hengwen("report", "step-1", "--plan", "chat", "--json").json["plan"] == "chat"


@pytest.mark.parametrize("command", [["report"], ["drift"], ["compare", "step-1", "step-2"]])
def test_a_command_without_a_plan_says_which_it_took(hengwen, tmp_path: Path, command: list[str]) -> None:
    for name in ("chat", "lyrics"):
        for step in ("step-1", "step-2"):
            hengwen("run", write_plan(tmp_path / f"{name}-{step}", step, "问", name=name), "--quiet")
    assert hengwen(*command).err == "plan lyrics, which ran last; also in hengwen.db: chat (--plan)\n"
    assert hengwen(*command, "--plan", "chat").err == ""


def test_a_named_run_that_the_named_plan_does_not_have_is_an_error(hengwen, tmp_path: Path) -> None:
    hengwen("run", write_plan(tmp_path / "one", "early", "问"), "--quiet")
    done = hengwen("report", "early", "--plan", "other")
    assert done.code == 2
    assert done.err == (
        "hengwen: no run or checkpoint 'early' of plan 'other' in hengwen.db; see: hengwen runs list\n"
    )


def test_plans_with_the_same_prompts_are_one_plan(hengwen, tmp_path: Path) -> None:
    hengwen("run", write_plan(tmp_path / "one", "early", "问"), "--quiet")
    hengwen("run", write_plan(tmp_path / "two", "late", "问"), "--quiet")
    done = hengwen("report", "--json")
    assert {run["checkpoint"] for run in done.json["runs"]} == {"early", "late"}
    assert done.json["warnings"] == []


@pytest.mark.parametrize("more", [[], ["--persona"]], ids=["starter", "persona"])
@pytest.mark.parametrize(
    ("folder", "name"),
    [("my-model2", "my-model2"), ("我的 模型", "我的-模型"), ("1.10", "1.10"), (".", "home")],
)
def test_init_names_the_plan_after_its_folder(
    hengwen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, name: str, more: list[str]
) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    assert hengwen("init", folder, *more).code == 0
    assert yaml.safe_load(Path(folder, "plan.yaml").read_text("utf-8"))["name"] == name
    assert hengwen("validate", Path(folder, "plan.yaml")).code == 0

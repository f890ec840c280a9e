"""``hengwen init --persona``: the packaged example, and a suite for a character of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PERSONA = """\
name: {zh: 煤球, en: Soot}
language: LANGUAGE
voice: 话少，爱打盹。
facts: [住在烟囱边]
taboos: [作为一个人工智能]
markers: [喵呜]
"""
TASKS = ("new_topic", "live", "emotion", "comprehensive")


@pytest.fixture
def persona(tmp_path: Path) -> Path:
    path = tmp_path / "soot.yaml"
    path.write_text(PERSONA.replace("LANGUAGE", "zh"), "utf-8")
    return path


@pytest.mark.slow
def test_the_packaged_example_runs_at_once_without_a_key(hengwen) -> None:
    done = hengwen("init", "example", "--persona")
    assert done.code == 0
    assert done.out.endswith("next: hengwen run example/plan.yaml -o report.html\n")
    assert hengwen("validate", "example/plan.yaml").out.endswith("is a valid plan\n")
    done = hengwen("run", "example/plan.yaml", "--json")
    assert done.code == 0
    assert [run["checkpoint"] for run in done.json["runs"]] == ["day-1", "day-2", "day-3"]
    for task, rubric in zip(TASKS, ("muice_new_topic", *["muice_live"] * 3), strict=True):
        first, _, last = (run["scores"][f"{task}/{rubric}.level"] for run in done.json["runs"])
        assert first["coverage"] == last["coverage"] == 1
        assert first["mean"] < last["mean"]
    for scores in (run["scores"] for run in done.json["runs"]):
        final, published = (
            scores[f"new_topic/muice_new_topic.{part}"]["mean"] for part in ("final", "published")
        )
        assert published == pytest.approx(10 * final)
    assert (done.json["decision"]["verdict"], done.json["decision"]["checkpoint"]) == ("ship", "day-3")
    assert any("live/human.muice_live.level" in run["scores"] for run in done.json["runs"])


@pytest.mark.parametrize(
    ("arguments", "folder"),
    [
        (["mine", "--persona", "soot.yaml"], "mine"),
        (["--persona", "soot.yaml", "mine"], "mine"),
        (["mine", "soot.yaml", "--persona"], "mine"),
        (["--persona", "soot.yaml"], "."),
    ],
)
def test_a_character_gets_a_suite_whose_plan_is_good(
    hengwen, persona: Path, tmp_path: Path, arguments: list[str], folder: str
) -> None:
    done = hengwen("init", *arguments)
    assert done.code == 0
    assert "next: put your own prompts and references into the .jsonl files" in done.out
    plan = Path(folder) / "plan.yaml"
    assert f"hengwen validate {plan}" in done.out
    assert hengwen("validate", plan).out.endswith("is a valid plan\n")
    assert (tmp_path / folder / "persona.yaml").read_bytes() == persona.read_bytes()
    for task in TASKS:
        assert "煤球" in (tmp_path / folder / f"{task}.md.j2").read_text("utf-8")


@pytest.mark.slow
def test_a_filled_in_suite_is_weighed_by_the_words_of_the_character(
    hengwen, persona: Path, tmp_path: Path
) -> None:
    hengwen("init", "mine", "--persona", persona)
    answers = []
    for task in TASKS:
        rows = [
            json.loads(line) for line in (tmp_path / "mine" / f"{task}.jsonl").read_text("utf-8").splitlines()
        ]
        output = "作为一个人工智能，我很好" if task == "emotion" else "喵呜，今天烟囱暖和，我睡了三回"
        answers += [{"task": task, "id": row["id"], "output": output} for row in rows]
    (tmp_path / "mine" / "a.jsonl").write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in answers), "utf-8"
    )
    plan = tmp_path / "mine" / "plan.yaml"
    text = plan.read_text("utf-8").replace("backend: subject} # asked by this run", "responses: a.jsonl}")
    plan.write_text(text, "utf-8")
    (run,) = hengwen("run", "mine/plan.yaml", "--json").json["runs"]
    assert run["scores"]["emotion/muice_live.level"]["mean"] == 0.25
    assert run["scores"]["live/muice_live.level"]["mean"] == 1


def test_an_english_character_gets_english_prompts(hengwen, tmp_path: Path) -> None:
    (tmp_path / "soot.yaml").write_text(PERSONA.replace("LANGUAGE", "en"), "utf-8")
    hengwen("init", "mine", "--persona", "soot.yaml")
    assert (tmp_path / "mine" / "live.md.j2").read_text("utf-8").startswith("You are Soot. ")
    assert "<topic: something today>" in (tmp_path / "mine" / "new_topic.jsonl").read_text("utf-8")
    assert "language: en" in (tmp_path / "mine" / "plan.yaml").read_text("utf-8")
    assert hengwen("validate", "mine/plan.yaml").code == 0


def test_the_briefs_of_a_character_are_its_topics(hengwen, persona: Path, tmp_path: Path) -> None:
    persona.write_text(persona.read_text("utf-8") + "briefs: {屋顶: 说说屋顶上的事。}\n", "utf-8")
    hengwen("init", "mine", "--persona", persona)
    (row,) = (tmp_path / "mine" / "new_topic.jsonl").read_text("utf-8").splitlines()
    assert json.loads(row)["input"] == "<话题: 屋顶>"
    assert json.loads(row)["metadata"] == {"brief": "说说屋顶上的事。"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\n", "soot.yaml:1: voice: field required"),
        ("name: x\nvoice: y\nmarker: [z]\n", "soot.yaml:3: unknown key 'marker'; did you mean 'markers'?"),
        (
            "name: x\nvoice: y\nlanguage: fr\n",
            "soot.yaml:3: language: input should be 'zh' or 'en', got 'fr'",
        ),
        (
            "name: x\nvoice: y\nbriefs: {a: b, '<t: a>': c}\n",
            "soot.yaml:3: briefs: '<t: a>' and 'a' are one topic",
        ),
    ],
)
def test_a_wrong_character_is_told_by_line_and_nothing_is_written(
    hengwen, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "soot.yaml").write_text(text, "utf-8")
    done = hengwen("init", "mine", "--persona", "soot.yaml")
    assert (done.code, message in done.err) == (2, True), done.err
    assert not (tmp_path / "mine").exists()


def test_files_that_are_there_are_kept_unless_forced(hengwen, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "live.jsonl").write_text("mine", "utf-8")
    done = hengwen("init", "mine", "--persona")
    assert (done.code, "use --force" in done.err) == (2, True)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["live.jsonl"]
    assert hengwen("init", "mine", "--persona", "--force").code == 0


@pytest.mark.parametrize(
    "arguments", [["a", "b.yaml"], ["a", "b", "--persona"], ["a.yaml", "b.yaml", "--persona"]]
)
def test_arguments_that_do_not_go_together_are_told(hengwen, tmp_path: Path, arguments: list[str]) -> None:
    assert hengwen("init", *arguments).code == 2
    assert list(tmp_path.iterdir()) == []

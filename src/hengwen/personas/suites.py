"""Files of two plans that evaluate a persona: a packaged example, and a starter for any character."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from hengwen.io.output_files import JsonRow
from hengwen.io.strict_yaml import load_yaml
from hengwen.personas.persona import Persona, Scene, load_persona, system_prompt, to_jsonl
from hengwen.personas.plan_text import (
    DEFAULT_PRESET,
    JUDGE_YAML,
    SUBJECT_YAML,
    TASKS,
    PlannedTask,
    plan_text,
    sampling,
)

SCENES: tuple[Scene, ...] = ("new_topic", "live", "emotion", "comprehensive")

_EXAMPLE_HEAD = (
    "{name}, a character of Hengwen's own, in the four tasks of the Muice protocol: three checkpoints.",
    "It runs at once, without a key: the rules judge reads the rubrics.",
    "Labels are readings by the project: they show how calibration works, and prove nothing of a judge.",
    "",
    "  hengwen run plan.yaml -o report.html",
)
_STARTER_HEAD = (
    "The four tasks of the Muice protocol for {name}. Fill it in:",
    "  - the .jsonl files: these prompts fit any character; put in yours, and good replies as references",
    "  - the .md.j2 files: the system prompts, made from persona.yaml; change them as you like",
    "  - checkpoints: below: where your model answers, or the answers that you have",
    "",
    "  hengwen validate plan.yaml",
    "  hengwen run plan.yaml -o report.html",
)


def example_suite() -> dict[str, str | bytes]:
    """The files of the packaged example, by file name; they include human labels and stored answers."""
    folder = _package_folder() / "example"
    persona = load_persona(folder / "persona.yaml")
    rows = {task: _read_rows(folder / f"{task}.jsonl") for task in SCENES}
    answers = sorted((folder / "answers").glob("*.jsonl"))
    checkpoints = [f"  - {{name: {path.stem}, responses: answers/{path.name}}}\n" for path in answers]
    tail = "".join(
        [
            "checkpoints: # in the order of training\n",
            *checkpoints,
            "labels: labels.csv # levels for a part of the answers, read twice by the project\n",
            f"# backends:\n#   {JUDGE_YAML}\n",
        ]
    )
    return {
        **_suite(persona, rows, _EXAMPLE_HEAD, tail),
        **{f"answers/{path.name}": path.read_bytes() for path in answers},
        **{name: (folder / name).read_bytes() for name in ("persona.yaml", "labels.csv")},
    }


def starter_suite(persona: Persona) -> dict[str, str | bytes]:
    """Return the files of a starter plan for a character; its prompts fit any character."""
    starter = load_yaml(_package_folder() / f"starter.{persona.language}.yaml").data
    if not persona.briefs:
        persona = persona.model_copy(update={"briefs": starter["new_topic"]})
    kind = "<话题: {}>" if persona.language == "zh" else "<topic: {}>"
    tags = [tag if tag.startswith("<") else kind.format(tag) for tag in persona.briefs]
    texts = {"new_topic": tags, **{task: starter[task] for task in SCENES[1:]}}
    rows: dict[Scene, list[JsonRow]] = {
        task: [
            {"id": f"{task}-{number:02}", "input": text, "references": [], "metadata": {}}
            for number, text in enumerate(texts[task], 1)
        ]
        for task in SCENES
    }
    return dict(_suite(persona, rows, _STARTER_HEAD, f"{SUBJECT_YAML}  # {JUDGE_YAML}\n"))


def _suite(
    persona: Persona, rows: Mapping[Scene, list[JsonRow]], head: Sequence[str], tail: str
) -> dict[str, str | bytes]:
    rows = {**rows, "new_topic": [_with_brief(row, persona) for row in rows["new_topic"]]}
    plan = plan_text(
        name="persona",
        head=[line.format(name=persona.called) for line in head],
        tasks=[_planned(task, rows[task], persona) for task in SCENES],
        tail=tail,
    )
    return {
        "plan.yaml": plan,
        **{f"{task}.jsonl": to_jsonl(rows[task]) for task in SCENES},
        **{f"{task}.md.j2": system_prompt(persona, task) for task in SCENES},
    }


def _planned(task: Scene, rows: Sequence[JsonRow], persona: Persona) -> PlannedTask:
    options = {"markers": list(persona.markers), "taboo": list(persona.taboos)}
    return PlannedTask(
        task=replace(TASKS[task], scale=("mean_times", 10)),  # the formula "sum / 10" needs 100 prompts
        samples=f"{task}.jsonl",
        count=len(rows),
        rubric=TASKS[task].rubric,
        params=sampling(DEFAULT_PRESET),
        preset=DEFAULT_PRESET,
        has_number=any("number" in row["metadata"] for row in rows),
        language=persona.language,
        options={key: value for key, value in options.items() if value},
    )


def _with_brief(row: JsonRow, persona: Persona) -> JsonRow:
    """Return the row of a topic prompt with its brief (instruction to the model) in the metadata."""
    brief = row["metadata"].get("brief") or persona.brief(row["input"]) or row["input"]
    return {**row, "metadata": {**row["metadata"], "brief": brief}}


def _read_rows(path: Path) -> list[JsonRow]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _package_folder() -> Path:
    return Path(str(files("hengwen.personas")))

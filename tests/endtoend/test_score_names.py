"""A scorer or judge of any allowed name works through every command, with the same results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path

import pytest

NAME = "zzq"
"""A name without a meaning; the outputs of a plan with another name are those of this one."""
PLAN = """\
name: p
tasks:
  - name: judged
    samples: prompts.jsonl
    rules: [{plain_text: {cap: 0.5}}]
    scale: {mean_times: 10}
    judges:
      - {rubric: mine.yaml, name: NAME}
  - name: scored
    samples: prompts.jsonl
    scorers: [{length: {least: 3}, name: NAME}]
checkpoints:
  - {name: a, responses: a.jsonl}
  - {name: b, responses: b.jsonl}
  - {name: c, responses: c.jsonl}
labels: labels.jsonl
anchors: anchors.jsonl
gates:
  - judged/NAME.final >= 0.1
  - judged/NAME.published >= 1
  - scored/NAME.within >= 0.1
  - no_drop(*, a)
"""
RUBRIC = """\
name: mine
version: 1
title: {zh: 甲, en: A}
instructions: {zh: 看, en: Look}
levels:
  0: {label: E, zh: 差, en: bad}
  0.5: {label: C, zh: 中, en: fair}
  1: {label: A, zh: 佳, en: best}
criteria:
  plain: {zh: 平, en: plain}
rules:
  plain_text: true
  markers: [这里]
  criteria: {plain: [plain_text]}
"""
COMMANDS: dict[str, tuple[str, ...]] = {
    "validate": ("validate", "plan.yaml"),
    "run": ("run", "plan.yaml", "-q", "-o", "run.json"),
    "report": ("report", "-q", "-o", "report.json"),
    "compare": ("compare", "a", "c", "--json"),
    "drift": ("drift", "--json"),
    "judge drift": ("judge-drift", "plan.yaml", "--before", "a", "--json"),
    "gate": ("gate", "plan.yaml", "--json"),
    "calibrate": ("calibrate", "plan.yaml", "--json"),
}
VARYING = re.compile(r"\d{8}[-T]\d{6}[-\w]*|\b[0-9a-f]{8,64}\b|\d{4}-\d\d-\d\dT[\d:.+]+Z?")


def write(folder: Path, name: str) -> None:
    """Write a plan whose judge and scorer have a name."""

    def jsonl(file: str, rows: list[dict]) -> None:
        (folder / file).write_text(
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8"
        )

    (folder / "plan.yaml").write_text(PLAN.replace("NAME", name), "utf-8")
    (folder / "mine.yaml").write_text(RUBRIC, "utf-8")
    jsonl("prompts.jsonl", [{"id": f"p{i}", "input": "在吗"} for i in range(8)])
    for start, checkpoint in enumerate("abc"):
        answers = ["# 标题\n我在" if (i + start) % 3 == 0 else "我在这里。"[: 2 + i % 4] for i in range(8)]
        rows = [
            {"task": task, "id": f"p{i}", "output": text}
            for task in ("judged", "scored")
            for i, text in enumerate(answers)
        ]
        jsonl(f"{checkpoint}.jsonl", rows)
    label = {"task": "judged", "rater": "me", "score": f"{name}.level"}
    jsonl(
        "labels.jsonl",
        [{**label, "id": f"p{i}", "checkpoint": c, "value": i % 2} for c in "abc" for i in range(8)],
    )
    jsonl(
        "anchors.jsonl",
        [{**label, "id": f"q{i}", "output": "我在。" * (i + 1), "value": 1} for i in range(3)],
    )


def outputs(hengwen: Callable, folder: Path, name: str) -> dict[str, str]:
    """Return exit code and output of each command, without what differs from run to run."""
    write(folder, name)
    found = {}
    for command, arguments in COMMANDS.items():
        done = hengwen(*arguments)
        written = (folder / arguments[-1]).read_text("utf-8") if "-o" in arguments else done.out
        text = f"exit code {done.code}\n{done.err}\n{written}"
        found[command] = VARYING.sub("~", text)
    return found


@pytest.mark.slow
def test_no_name_of_a_scorer_or_judge_changes_a_result(
    hengwen: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = {}
    for name in (NAME, "anchor", "human", "final", "team.persona"):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        results[name] = outputs(hengwen, folder, name)
    usual = results.pop(NAME)
    assert all("exit code 0" in usual[command] for command in COMMANDS if command != "calibrate")
    assert "judged/zzq.final" in usual["report"]
    for name, by_command in results.items():
        for command, text in by_command.items():
            expected = usual[command].replace(NAME, name).splitlines()
            assert list(unified_diff(expected, text.splitlines(), n=0)) == [], (name, command)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("mine.yaml, name: NAME}", "mine.yaml, name: a/b}", 8, "a name starts with a letter or digit"),
        ("{least: 3}, name: NAME}", "{least: 3}, name: a/b}", 11, "a name starts with a letter or digit"),
        (
            "mine.yaml, name: NAME}",
            "mine.yaml, name: NAME}\n      - {rubric: mine.yaml, name: anchor.NAME}",
            9,
            "anchor.NAME.level",
        ),
        (
            "mine.yaml, name: NAME}",
            "mine.yaml, name: NAME}\n      - {rubric: mine.yaml, name: human.NAME}",
            9,
            "human.NAME.level",
        ),
    ],
    ids=["judge with a slash", "scorer with a slash", "judge like an anchor", "judge like a label"],
)
def test_a_name_that_could_be_read_as_another_is_refused_with_its_line(
    hengwen: Callable, tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    write(tmp_path, NAME)
    plan = PLAN.replace(old, new).replace("NAME", NAME)
    (tmp_path / "plan.yaml").write_text(plan, "utf-8")
    done = hengwen("validate", "plan.yaml")
    assert done.code == 2
    assert f"plan.yaml:{line}: " in done.err
    assert message.replace("NAME", NAME) in done.err

"""The Muice evaluation document, read as its source stands: tasks, rubrics, items, examples, what was mended.

It is met in several revisions: with LF or CRLF, headings of two or three marks, prompts or none, the task of
daily chat in the place of emotion. Where a sentence of it sets a number, that number is taken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hengwen.errors import ConfigError, DataError
from hengwen.importers.muice.items import Item, read_items
from hengwen.importers.muice.markdown_source import MarkdownSection, source_lines, split_sections
from hengwen.importers.muice.tables import Example, Scoring, read_examples, read_scoring
from hengwen.importers.notes import ImportNote
from hengwen.io.yaml_config import read_text
from hengwen.personas.tasks import TASKS, ScaleKey

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TaskName = Literal["new_topic", "live", "emotion", "daily", "comprehensive"]

TITLES: Mapping[str, TaskName] = {
    "新话题发起": "new_topic",
    "直播对话": "live",
    "情感对话": "emotion",
    "日常对话": "daily",
    "综合对话": "comprehensive",
}
"""What the heading of a task has in it."""

_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_INHERITS = re.compile(r"评测标准\s*(?:请?参考|同|见)\s*[“\"「『]?([^”\"」』。\n]+)")
_REPEATS = re.compile(r"重复生成\s*(\d+)\s*个")
_ONCE = re.compile(r"[仅只]取\s*(?:一|1)\s*个答案")
_DUPLICATES = re.compile(r"高度吻合.*?计\s*0\s*分")
_MEAN = re.compile(r"平均分\s*\\?[*×xX]\s*(\d+)")
_SUM = re.compile(r"总分\s*(?:除以|\\?[/÷])\s*(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTask:
    """A task as the document has it."""

    name: TaskName
    title: str
    line: int
    rubric: str
    """Of the document's rubrics: ``muice_new_topic`` or ``muice_live``."""
    items: tuple[Item, ...]
    repeats: int
    near_duplicates: bool
    """Whether an answer that repeats an earlier one counts 0."""
    scale: tuple[ScaleKey, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """All that was found."""

    tasks: tuple[DocumentTask, ...]
    scorings: Mapping[str, Scoring]
    """The scoring tables by the rubric that they become."""
    examples: Mapping[str, tuple[Example, ...]]
    """By rubric."""
    findings: tuple[ImportNote, ...]


def read_document(path: Path) -> Document:
    """Read the document.

    Raises:
        DataError: It is not this document, or a part of it cannot be read; file and line are named.
    """
    text = _read(path)
    findings: list[ImportNote] = []
    if "\r\n" in text:
        findings.append(ImportNote(kind="note", code="line_endings", message="lines end in CRLF: read as LF"))
    sections = _task_sections(text, path)
    scorings = {name: read_scoring(section, path) for name, section in sections.items()}
    rubrics = {name: _rubric_of(name, sections, scorings, path, findings) for name in sections}
    examples: dict[str, list[Example]] = {}
    for name, section in sections.items():
        examples.setdefault(rubrics[name], []).extend(read_examples(section, path, findings))
    tasks = tuple(_task(name, section, rubrics[name], path, findings) for name, section in sections.items())
    found = {rubrics[name]: scoring for name, scoring in scorings.items() if scoring is not None}
    return Document(
        tasks=tasks,
        scorings=found,
        examples={name: tuple(shown) for name, shown in examples.items()},
        findings=tuple(findings),
    )


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except ConfigError as error:
        raise DataError(str(error)) from None


def _task_sections(text: str, path: Path) -> dict[TaskName, MarkdownSection]:
    sections = split_sections(source_lines(text))
    found: dict[TaskName, MarkdownSection] = {}
    for section in sections:
        name = next((task for title, task in TITLES.items() if title in section.title), None)
        if name is None:
            continue
        if name in found:
            message = (
                f"{path}:{section.line}: a second heading for {name}, first seen on line {found[name].line}"
            )
            raise DataError(message, line=section.line)
        found[name] = section
    wanted = dict(TITLES)
    del wanted["情感对话" if "daily" in found else "日常对话"]
    for title, name in wanted.items():
        if name not in found:
            heads = ", ".join(section.title for section in sections[:8]) or "none"
            raise DataError(
                f"{path}:1: no heading has {title!r} in it: this is not the Muice evaluation document; "
                f"its headings: {heads}",
                line=1,
            )
    return found


def _rubric_of(
    name: TaskName,
    sections: Mapping[TaskName, MarkdownSection],
    scorings: Mapping[TaskName, Scoring | None],
    path: Path,
    findings: list[ImportNote],
) -> str:
    """The rubric of a task: its own table, the one that it refers to, or the one that the others share."""
    section = sections[name]
    holder = name if scorings[name] else _referred(section, sections, path)
    if holder is None:
        others = [task for task, scoring in scorings.items() if scoring and task != "new_topic"]
        if name == "new_topic" or not others:
            raise DataError(
                f"{path}:{section.line}: {section.title!r} has no scoring table", line=section.line
            )
        holder = others[0]
        message = f"{section.title!r} has no scoring table: that of {sections[holder].title!r} is taken"
        findings.append(ImportNote(kind="warning", code="rubric_guessed", message=message, line=section.line))
    if not scorings[holder]:
        other = sections[holder].title
        message = f"{path}:{section.line}: {section.title!r} refers to {other!r}, which has no scoring table"
        raise DataError(message, line=section.line)
    return "muice_new_topic" if holder == "new_topic" else "muice_live"


def _referred(
    section: MarkdownSection, sections: Mapping[TaskName, MarkdownSection], path: Path
) -> TaskName | None:
    for line in section.lines:
        found = _INHERITS.search(_LINK.sub(r"\1", line.text))
        if found is None:
            continue
        wanted = found[1].strip()
        for name, other in sections.items():
            if wanted in other.title or other.title in wanted:
                return name
        titles = ", ".join(other.title for other in sections.values())
        raise DataError(f"{path}:{line.number}: no heading is called {wanted!r}: {titles}", line=line.number)
    return None


def _task(
    name: TaskName, section: MarkdownSection, rubric: str, path: Path, findings: list[ImportNote]
) -> DocumentTask:
    usual = TASKS["emotion" if name == "daily" else name]
    items = read_items(section.lines, path, findings, task=name)
    if name == "daily":
        message = f"{section.title!r} is of an older revision, which had no emotion: no score can be compared"
        findings.append(ImportNote(kind="warning", code="legacy", message=message, line=section.line))
    repeats = _repeats(section)
    scale = _scale(section)
    for what, found, default in (
        ("how many answers a prompt gets", repeats, f"{usual.repeats}"),
        ("how the score is made of the points", scale, f"{usual.scale[0]}: {usual.scale[1]:g}"),
    ):
        if found is None:
            message = f"{section.title!r} does not say {what}: {default} is taken"
            findings.append(ImportNote(kind="warning", code="not_said", message=message, line=section.line))
    return DocumentTask(
        name=name,
        title=section.title,
        line=section.line,
        rubric=rubric,
        items=items,
        repeats=repeats or usual.repeats,
        near_duplicates=bool(_DUPLICATES.search(section.text)),
        scale=scale or usual.scale,
    )


def _repeats(section: MarkdownSection) -> int | None:
    found = _REPEATS.search(section.text)
    return int(found[1]) if found else 1 if _ONCE.search(section.text) else None


def _scale(section: MarkdownSection) -> tuple[ScaleKey, float] | None:
    if found := _MEAN.search(section.text):
        return "mean_times", float(found[1])
    if found := _SUM.search(section.text):
        return "sum_divided_by", float(found[1])
    return None

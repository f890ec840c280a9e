"""Parse the Muice evaluation document: tasks, scoring tables, items, examples and notes.

Its revisions differ in line ends, headings, prompts, and in a task (daily chat or emotion). Numbers are read
from its sentences; if one is missing, the default of the task is used, with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hengwen.errors import ConfigError, DataError
from hengwen.importers.muice.items import Item, read_items
from hengwen.importers.muice.markdown_source import ImportNote, MarkdownSection, source_lines, split_sections
from hengwen.importers.muice.tables import Example, Scoring, read_examples, read_scoring
from hengwen.io.strict_yaml import read_text
from hengwen.personas.plan_text import TASKS, PersonaTask, ScaleKey

TaskName = Literal["new_topic", "live", "emotion", "daily", "comprehensive"]

TITLES: Mapping[str, TaskName] = {
    "新话题发起": "new_topic",
    "直播对话": "live",
    "情感对话": "emotion",
    "日常对话": "daily",
    "综合对话": "comprehensive",
}
"""For each task, a text that occurs in its heading."""

_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_INHERITS = re.compile(r"评测标准\s*(?:请?参考|同|见)\s*[“\"「『]?([^”\"」』。\n]+)")
_REPEATS = re.compile(r"重复生成\s*(\d+)\s*个")
_ONCE = re.compile(r"[仅只]取\s*(?:一|1)\s*个答案")
_DUPLICATES = re.compile(r"高度吻合.*?计\s*0\s*分")
_MEAN = re.compile(r"平均分\s*\\?[*×xX]\s*(\d+)")
_SUM = re.compile(r"总分\s*(?:除以|\\?[/÷])\s*(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTask:
    """A task of the document."""

    name: TaskName
    title: str
    """Heading of the task."""
    line: int
    """Line number of the heading."""
    rubric: str
    """Name of the task's rubric: ``muice_new_topic`` or ``muice_live``."""
    items: tuple[Item, ...]
    """Prompts with reference answers."""
    repeats: int
    """Number of answers to each prompt."""
    near_duplicates: bool
    """Whether an answer that repeats an earlier answer gets the score 0."""
    scale: tuple[ScaleKey, float]
    """Formula that computes the published score from the scores of all answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The parsed document."""

    tasks: tuple[DocumentTask, ...]
    scorings: Mapping[str, Scoring]
    """Scoring tables, by name of the rubric."""
    examples: Mapping[str, tuple[Example, ...]]
    """Published examples, by name of the rubric."""
    notes: tuple[ImportNote, ...]
    """Repairs, warnings and remarks that the import made."""


def read_document(path: Path) -> Document:
    """Parse a document."""
    text = _read(path)
    notes: list[ImportNote] = []
    if "\r\n" in text:
        notes.append(ImportNote(kind="note", code="line_endings", message="CRLF line ends are read as LF"))
    sections = _task_sections(text, path)
    scorings = {name: read_scoring(section, path) for name, section in sections.items()}
    rubrics = {name: _rubric_of(name, sections, scorings, path, notes) for name in sections}
    examples: dict[str, list[Example]] = {}
    for name, section in sections.items():
        examples.setdefault(rubrics[name], []).extend(read_examples(section, path, notes))
    tasks = tuple(_task(name, section, rubrics[name], path, notes) for name, section in sections.items())
    return Document(
        tasks=tasks,
        scorings={rubrics[name]: scoring for name, scoring in scorings.items() if scoring is not None},
        examples={rubric: tuple(published) for rubric, published in examples.items()},
        notes=tuple(notes),
    )


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except ConfigError as error:
        raise DataError(str(error)) from None


def _task_sections(text: str, path: Path) -> dict[TaskName, MarkdownSection]:
    sections = split_sections(source_lines(text))
    tasks: dict[TaskName, MarkdownSection] = {}
    for section in sections:
        name = next((task for title, task in TITLES.items() if title in section.title), None)
        if name is None:
            continue
        if name in tasks:
            message = f"{path}:{section.line}: a second heading for {name}, first on line {tasks[name].line}"
            raise DataError(message, line=section.line)
        tasks[name] = section
    required = dict(TITLES)
    del required["情感对话" if "daily" in tasks else "日常对话"]
    for title, name in required.items():
        if name not in tasks:
            headings = ", ".join(section.title for section in sections[:8]) or "none"
            raise DataError(
                f"{path}:1: no heading contains {title!r}: this is not the Muice evaluation document; "
                f"its headings: {headings}",
                line=1,
            )
    return tasks


def _rubric_of(
    name: TaskName,
    sections: Mapping[TaskName, MarkdownSection],
    scorings: Mapping[TaskName, Scoring | None],
    path: Path,
    notes: list[ImportNote],
) -> str:
    section = sections[name]
    holder = name if scorings[name] else _referred(section, sections, path)
    if holder is None:
        others = [task for task, scoring in scorings.items() if scoring and task != "new_topic"]
        if name == "new_topic" or not others:
            raise DataError(
                f"{path}:{section.line}: {section.title!r} has no scoring table", line=section.line
            )
        holder = others[0]
        message = f"{section.title!r} has no scoring table: using that of {sections[holder].title!r}"
        notes.append(ImportNote(kind="warning", code="rubric_guessed", message=message, line=section.line))
    if not scorings[holder]:
        title = sections[holder].title
        message = f"{path}:{section.line}: {section.title!r} refers to {title!r}, which has no scoring table"
        raise DataError(message, line=section.line)
    return "muice_new_topic" if holder == "new_topic" else "muice_live"


def _referred(
    section: MarkdownSection, sections: Mapping[TaskName, MarkdownSection], path: Path
) -> TaskName | None:
    """Return the task to whose scoring table a section refers."""
    for line in section.lines:
        match = _INHERITS.search(_LINK.sub(r"\1", line.text))
        if match is None:
            continue
        title = match[1].strip()
        for name, other in sections.items():
            if title in other.title or other.title in title:
                return name
        titles = ", ".join(other.title for other in sections.values())
        message = f"{path}:{line.number}: no heading is called {title!r}; headings: {titles}"
        raise DataError(message, line=line.number)
    return None


def _task(
    name: TaskName, section: MarkdownSection, rubric: str, path: Path, notes: list[ImportNote]
) -> DocumentTask:
    protocol = protocol_task(name)
    items = read_items(section.lines, path, notes, task=name)
    if name == "daily":
        message = f"{section.title!r} is from an older revision without emotion: scores are not comparable"
        notes.append(ImportNote(kind="warning", code="legacy", message=message, line=section.line))
    repeats = _repeats(section)
    scale = _scale(section)
    for subject, value, default in (
        ("the number of answers to a prompt", repeats, f"{protocol.repeats}"),
        ("the formula of the score", scale, f"{protocol.scale[0]}: {protocol.scale[1]:g}"),
    ):
        if value is None:
            message = f"{section.title!r} does not state {subject}: using {default}"
            notes.append(ImportNote(kind="warning", code="not_said", message=message, line=section.line))
    return DocumentTask(
        name=name,
        title=section.title,
        line=section.line,
        rubric=rubric,
        items=items,
        repeats=repeats or protocol.repeats,
        near_duplicates=bool(_DUPLICATES.search(section.text)),
        scale=scale or protocol.scale,
    )


def protocol_task(name: TaskName) -> PersonaTask:
    """Return the settings of a task of the Muice protocol; daily chat has the settings of ``emotion``."""
    return TASKS["emotion" if name == "daily" else name]


def _repeats(section: MarkdownSection) -> int | None:
    match = _REPEATS.search(section.text)
    return int(match[1]) if match else 1 if _ONCE.search(section.text) else None


def _scale(section: MarkdownSection) -> tuple[ScaleKey, float] | None:
    if match := _MEAN.search(section.text):
        return "mean_times", float(match[1])
    if match := _SUM.search(section.text):
        return "sum_divided_by", float(match[1])
    return None

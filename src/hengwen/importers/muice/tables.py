"""Parse the scoring tables and the tables of examples in the Muice document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from hengwen.errors import DataError
from hengwen.importers.muice.markdown_source import ImportNote, MarkdownSection, Table, TableRow, read_tables
from hengwen.importers.muice.tags import KNOWN_TAGS, canonical_tag

LEVELS = (1.0, 0.75, 0.5, 0.25, 0.0)


@dataclass(frozen=True, slots=True)
class Scoring:
    """A scoring table."""

    line: int
    levels: dict[float, str]
    """Text of each level, copied from the table; the best level comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """An answer that the Muice document publishes with its score."""

    line: int
    input: str
    """The prompt; a topic tag is written in the spelling of the Muice program."""
    published: str
    """The prompt as the Muice document spells it."""
    label: str | None
    response: str
    score: float
    reason: str


def split_clauses(cell: str) -> tuple[str, ...]:
    """Return the clauses of a level, which are separated by ``；``."""
    return tuple(clause.strip() for clause in cell.split("；") if clause.strip())


def read_scoring(section: MarkdownSection, path: Path) -> Scoring | None:
    """Return the scoring table of a section; None if it has no scoring table."""
    scoring: Scoring | None = None
    for table in read_tables(section.lines, path):
        if len(table.header.cells) != 2 or table.header.cells[1] not in ("分数", "得分", "Score"):
            continue
        if scoring is not None:
            line = table.header.line
            raise DataError(
                f"{path}:{line}: a second scoring table, the first is on line {scoring.line}", line=line
            )
        scoring = _scoring(table, path)
    return scoring


def _scoring(table: Table, path: Path) -> Scoring:
    levels: dict[float, str] = {}
    for row in table.rows:
        value = _level(row.cells[1], row, path)
        if value in levels:
            raise DataError(f"{path}:{row.line}: level {value:g} appears twice", line=row.line)
        if not row.cells[0]:
            raise DataError(f"{path}:{row.line}: level {value:g} has no text", line=row.line)
        levels[value] = row.cells[0]
    absent = [value for value in LEVELS if value not in levels]
    if absent:
        line = table.header.line
        missing = ", ".join(f"{value:g}" for value in absent)
        raise DataError(f"{path}:{line}: the scoring table has no level {missing}", line=line)
    return Scoring(table.header.line, {value: levels[value] for value in LEVELS})


def _level(cell: str, row: TableRow, path: Path) -> float:
    plain = re.sub(r"[*`\s]", "", cell)
    try:
        value = float(plain)
    except ValueError:
        value = -1.0
    if value not in LEVELS:
        raise DataError(
            f"{path}:{row.line}: score {cell!r} is not one of 1, 0.75, 0.5, 0.25, 0", line=row.line
        )
    return value


def read_examples(section: MarkdownSection, path: Path, notes: list[ImportNote]) -> list[Example]:
    """Return the published examples of a section."""
    examples = []
    for table in read_tables(section.lines, path):
        names = [name.casefold() for name in table.header.cells]
        if {"prompt", "response", "score", "reason"} <= set(names):
            examples += [
                _example(dict(zip(names, row.cells, strict=True)), row, path, notes) for row in table.rows
            ]
        elif len(names) != 2:
            message = f"skipped a table with neither levels nor examples: {', '.join(table.header.cells)}"
            notes.append(
                ImportNote(kind="warning", code="unknown_table", message=message, line=table.header.line)
            )
    return examples


def _example(cells: dict[str, str], row: TableRow, path: Path, notes: list[ImportNote]) -> Example:
    for name in ("prompt", "response", "reason"):
        if not cells[name]:
            raise DataError(f"{path}:{row.line}: the example has no {name}", line=row.line)
    return Example(
        line=row.line,
        input=_normalize_tag(cells["prompt"], row.line, notes),
        published=cells["prompt"],
        label=cells.get("label") or None,
        response=cells["response"],
        score=_level(cells["score"], row, path),
        reason=cells["reason"],
    )


def _normalize_tag(prompt: str, line: int, notes: list[ImportNote]) -> str:
    """Return a prompt; a topic tag is changed to the spelling in the Muice program."""
    tag = canonical_tag(prompt)
    if tag is None:
        return prompt
    if tag != prompt:
        notes.append(
            ImportNote(
                kind="warning",
                code="tag_spelling",
                line=line,
                message=f"the program spells tag {prompt} as {tag}; as published it would have no brief",
                before=prompt,
                after=tag,
            )
        )
    if tag not in KNOWN_TAGS:
        message = f"tag {tag} is not a topic prompt of the program"
        notes.append(ImportNote(kind="warning", code="unknown_tag", message=message, line=line))
    return tag

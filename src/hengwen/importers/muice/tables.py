"""The scoring tables of the Muice document, and its tables of examples."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hengwen.errors import DataError
from hengwen.importers.muice.markdown_source import MarkdownSection, Table, TableRow, read_tables
from hengwen.importers.muice.tags import KNOWN, canonical_tag
from hengwen.importers.notes import ImportNote

if TYPE_CHECKING:
    from pathlib import Path

LEVELS = (1.0, 0.75, 0.5, 0.25, 0.0)


@dataclass(frozen=True, slots=True)
class Scoring:
    """What each level wants, from the best down, as the cells of the table stand."""

    line: int
    levels: dict[float, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A published answer with its score."""

    line: int
    input: str
    """A tag as the program spells it."""
    published: str
    """The input as the document spells it."""
    label: str | None
    response: str
    score: float
    reason: str


def split_clauses(cell: str) -> tuple[str, ...]:
    """Return the clauses of a level, which are parted by ``；``, with or without a blank before it.

    Examples:
        >>> split_clauses("像在说 Prompt ；通顺； 有趣")
        ('像在说 Prompt', '通顺', '有趣')
    """
    return tuple(clause.strip() for clause in cell.split("；") if clause.strip())


def read_scoring(section: MarkdownSection, path: Path) -> Scoring | None:
    """Return the scoring table of a section, or None where it has none.

    Raises:
        DataError: A second one, or its levels are not 1, 0.75, 0.5, 0.25, 0.
    """
    found: Scoring | None = None
    for table in read_tables(section.lines, path):
        if len(table.header.cells) != 2 or table.header.cells[1] not in ("分数", "得分", "Score"):
            continue
        if found is not None:
            line = table.header.line
            raise DataError(
                f"{path}:{line}: a second scoring table, the first is on line {found.line}", line=line
            )
        found = _scoring(table, path)
    return found


def _scoring(table: Table, path: Path) -> Scoring:
    levels: dict[float, str] = {}
    for row in table.rows:
        value = _level(row.cells[1], row, path)
        if value in levels:
            raise DataError(f"{path}:{row.line}: level {value:g} is here again", line=row.line)
        if not row.cells[0]:
            raise DataError(f"{path}:{row.line}: level {value:g} says nothing", line=row.line)
        levels[value] = row.cells[0]
    absent = [value for value in LEVELS if value not in levels]
    if absent:
        line = table.header.line
        shown = ", ".join(f"{value:g}" for value in absent)
        raise DataError(f"{path}:{line}: the scoring table has no level {shown}", line=line)
    return Scoring(table.header.line, {value: levels[value] for value in LEVELS})


def _level(cell: str, row: TableRow, path: Path) -> float:
    plain = re.sub(r"[*`\s]", "", cell)
    try:
        value = float(plain)
    except ValueError:
        value = -1.0
    if value not in LEVELS:
        raise DataError(f"{path}:{row.line}: score {cell!r} is none of 1, 0.75, 0.5, 0.25, 0", line=row.line)
    return value


def read_examples(section: MarkdownSection, path: Path, findings: list[ImportNote]) -> list[Example]:
    """Return the published examples of a section.

    Args:
        section: With tables of Prompt, Response, Score and Reason, and perhaps Label.
        path: Of the document, for messages.
        findings: Tags that are not spelt as the program spells them are added here.

    Raises:
        DataError: A score is no level, or an example has no prompt, response or reason.
    """
    examples = []
    for table in read_tables(section.lines, path):
        names = [name.casefold() for name in table.header.cells]
        if {"prompt", "response", "score", "reason"} <= set(names):
            examples += [
                _example(dict(zip(names, row.cells, strict=True)), row, path, findings) for row in table.rows
            ]
        elif len(names) != 2:
            message = (
                f"a table that is neither levels nor examples is left out: {', '.join(table.header.cells)}"
            )
            findings.append(
                ImportNote(kind="warning", code="unknown_table", message=message, line=table.header.line)
            )
    return examples


def _example(cells: dict[str, str], row: TableRow, path: Path, findings: list[ImportNote]) -> Example:
    for name in ("prompt", "response", "reason"):
        if not cells[name]:
            raise DataError(f"{path}:{row.line}: the example has no {name}", line=row.line)
    return Example(
        line=row.line,
        input=_spelt(cells["prompt"], row.line, findings),
        published=cells["prompt"],
        label=cells.get("label") or None,
        response=cells["response"],
        score=_level(cells["score"], row, path),
        reason=cells["reason"],
    )


def _spelt(prompt: str, line: int, findings: list[ImportNote]) -> str:
    tag = canonical_tag(prompt)
    if tag is None:
        return prompt
    if tag != prompt:
        findings.append(
            ImportNote(
                kind="warning",
                code="tag_spelling",
                line=line,
                message=f"tag {prompt} is spelt {tag} by the program: as published it would lose its brief",
                before=prompt,
                after=tag,
            )
        )
    if tag not in KNOWN:
        message = f"tag {tag} is none of the program's topic prompts"
        findings.append(ImportNote(kind="warning", code="unknown_tag", message=message, line=line))
    return tag

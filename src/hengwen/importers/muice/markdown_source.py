"""Find headings and tables in Markdown source (HTML could lose text), and note what the import did."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hengwen.errors import DataError

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_SEPARATOR = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")


class SourceLine(NamedTuple):
    """A line of the source without its line end."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class MarkdownSection:
    """The lines below a heading, up to the next heading of the same or a higher rank."""

    title: str
    line: int
    lines: tuple[SourceLine, ...]

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(line.text for line in self.lines)


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table; its cells have no blanks at their ends."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a header."""

    header: TableRow
    rows: tuple[TableRow, ...]


def source_lines(text: str) -> list[SourceLine]:
    """Return the lines of a text; only LF and CRLF are line ends."""
    return [SourceLine(number, line.removesuffix("\r")) for number, line in enumerate(text.split("\n"), 1)]


def split_sections(lines: Sequence[SourceLine]) -> list[MarkdownSection]:
    """Return a section for each heading; a section includes the deeper sections below it."""
    headings = [
        (index, len(match[1]), match[2])
        for index, line in enumerate(lines)
        if (match := _HEADING.fullmatch(line.text))
    ]
    sections = []
    for number, (index, rank, title) in enumerate(headings):
        later = headings[number + 1 :]
        end = next((later_index for later_index, later_rank, _ in later if later_rank <= rank), len(lines))
        sections.append(MarkdownSection(title, lines[index].number, tuple(lines[index + 1 : end])))
    return sections


def read_tables(lines: Sequence[SourceLine], path: Path) -> Iterator[Table]:
    """Yield the tables that some lines contain."""
    block: list[SourceLine] = []
    for line in [*lines, SourceLine(0, "")]:
        if line.text.lstrip().startswith("|"):
            block.append(line)
            continue
        if len(block) >= 2:
            yield _table(block, path)
        block = []


def _table(block: Sequence[SourceLine], path: Path) -> Table:
    if not _SEPARATOR.fullmatch(block[1].text):
        line = block[1].number
        raise DataError(
            f"{path}:{line}: expected the separator line of dashes below the header of a table", line=line
        )
    header, *rows = [TableRow(line.number, split_cells(line.text)) for line in (block[0], *block[2:])]
    for row in rows:
        if len(row.cells) != len(header.cells):
            raise DataError(
                f"{path}:{row.line}: {len(row.cells)} cells, but the header of the table on line "
                f"{header.line} has {len(header.cells)}; write a '|' within a cell as '\\|'",
                line=row.line,
            )
    return Table(header, tuple(rows))


def split_cells(text: str) -> tuple[str, ...]:
    """Return the cells of a table row."""
    inner = re.sub(r"(?<!\\)\|\s*$", "", text.strip()[1:])
    return tuple(cell.strip(" \t").replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportNote:
    """One repair, warning or remark about a document."""

    kind: Literal["repair", "warning", "note"]
    """``repair``: the text was changed; ``warning``: the user should check it; ``note``: no action needed."""
    code: str
    """Identifier of the kind of note, for programs; it does not change between versions."""
    message: str
    """Text for the user."""
    line: int | None = None
    """Line number in the document, from 1."""
    before: str | None = None
    """Text before a repair."""
    after: str | None = None
    """Text after a repair."""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of a note that are set."""
        fields = ("kind", "code", "line", "message", "before", "after")
        return {name: value for name in fields if (value := getattr(self, name)) is not None}

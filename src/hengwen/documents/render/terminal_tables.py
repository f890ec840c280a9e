"""Tables of a terminal as lines: columns that share the width, or a list where they do not fit."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len
from rich.text import Text

from hengwen.documents.render.terminal_marks import difference_bar
from hengwen.text.numbers import NOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.documents.blocks import Bar

MIN_WRAPPED, MAX_WORD = 10, 18
"""A table becomes a list before a column of text is narrower than its longest word, within this range."""
STACKED = (" [", " · ", " (")
"""Before these, the text of a number may go on below: an interval, counts, a remark."""
GAP = 2
"""Spaces between two columns."""
BAR_WIDTHS = (21, 15, 11, 9)
"""Columns that the bars of a table may take, the most readable first."""
RECORD_BAR, MIN_RECORD_BAR = 11, 60
"""Columns of the bar of a row that takes several lines, and of a terminal in which it has one."""

Lines = list[Text]
_OPENING, _CLOSING = "（“‘《「『([", "，。；：、？！）”’》」』%…)]·,.;:?!"
"""Marks that do not end a line, and marks that do not begin one."""


@dataclass(slots=True, kw_only=True)
class TextColumn:
    """A column as texts; with ``bars`` it is drawn where there is room, and its texts are not used."""

    head: str
    align: Literal["left", "right"] = "left"
    cells: list[Text] = field(default_factory=list)
    bars: tuple[Bar | None, ...] = ()
    is_whole: bool = False
    """Whether its texts must not be wrapped."""


def wrapped(text: Text, width: int, first: Text | str = "", rest: str = "") -> Lines:
    """Return a text in lines; ``first`` stands before the first line, ``rest`` before the others."""
    lines: Lines = []
    for paragraph in text.split("\n", allow_blank=True):
        for line in paragraph.divide(_breaks(paragraph.plain, max(width - cell_len(rest), 1))):
            line.rstrip()
            lines.append(Text.assemble(rest if lines else first, line))
    return lines or [Text.assemble(first)]


def _breaks(text: str, width: int) -> list[int]:
    """Return where lines end: behind a space, and between Chinese characters but not before punctuation."""
    breaks: list[int] = []
    start = allowed = used = 0
    for i, character in enumerate(text):
        size = cell_len(character)
        if i and _may_break(text[i - 1], character):
            allowed = i
        if used + size > width and not character.isspace():
            start = allowed if allowed > start else i
            breaks.append(start)
            used = cell_len(text[start:i])
        used += size
    return breaks


def _may_break(before: str, after: str) -> bool:
    if before.isspace() or after.isspace():
        return before.isspace() and not after.isspace()
    is_wide = cell_len(before) == 2 or cell_len(after) == 2
    return is_wide and before not in _OPENING and after not in _CLOSING


def table_lines(
    columns: Sequence[TextColumn], width: int, bar_widths: Sequence[int] = (*BAR_WIDTHS, 0)
) -> tuple[Lines, list[Lines]] | None:
    """Return the lines of the head and of each row; None if the columns do not fit next to each other."""
    has_bars = any(column.bars for column in columns)
    if has_bars and not all(column.is_whole for column in columns if not column.bars):
        # bars give way to texts on one line, but not to intervals below their values
        whole = [replace(column, is_whole=True) for column in columns]
        drawn_whole = table_lines(whole, width, bar_widths)
        return drawn_whole or table_lines([column for column in columns if not column.bars], width)
    for bar_width in bar_widths if has_bars else (0,):
        drawn = [_with_bars(column, bar_width) for column in columns if bar_width or not column.bars]
        for separators in range(1 if bar_width else len(STACKED) + 1):
            stacked = [replace(column, cells=_stacked(column, separators)) for column in drawn]
            lines = _side_by_side(stacked, width)
            if lines is not None:
                return lines
    return None


def _head_before(column: TextColumn, row: int) -> str:
    """Return the head of a number's column, unless the cell says it itself, as "12 prompts" does."""
    head = " ".join(column.head.split())
    is_said = column.align == "left" or head in column.cells[row].plain.split()
    return f"{head} " if head and not is_said else ""


def record_lines(columns: Sequence[TextColumn], row: int, width: int) -> Lines:
    """Return a row of a table that is too wide: its first cells, its bar, and the others with their heads."""
    first, *others = (column for column in columns if not column.bars)
    head = Text(first.cells[row].plain or NOTHING, style=first.cells[row].style or "bold")
    if others and others[0].align == "left" and head.cell_len < width // 2:
        second, *others = others
        head = Text.assemble(head, "  ", Text(second.cells[row].plain, style=second.cells[row].style))
    bars = [
        Text(difference_bar(bar, RECORD_BAR), style=column.cells[row].style)
        for column in columns
        for bar in column.bars[row : row + 1]
        if bar is not None and width >= MIN_RECORD_BAR
    ]
    pairs = [
        Text.assemble(_head_before(column, row), Text(" ".join(cell.plain.split("\n")), style=cell.style))
        for column in others
        if (cell := column.cells[row]).plain
    ]
    rest = Text("  ").join([*bars, Text(" · ").join(pairs)])
    return [
        *wrapped(head, width, "", "  "),
        *(wrapped(rest, width, "  ", "  ") if rest.plain.strip() else []),
    ]


def _with_bars(column: TextColumn, width: int) -> TextColumn:
    if not column.bars:
        return column
    texts = [difference_bar(bar, width) if bar else "" for bar in column.bars]
    styles = [cell.style for cell in column.cells] or [""] * len(texts)
    cells = [Text(text, style=style) for text, style in zip(texts, styles, strict=True)]
    head = column.head if cell_len(column.head) <= width else "0".center(width)
    return replace(column, head=head.rstrip(), cells=cells, is_whole=True)


def _side_by_side(columns: Sequence[TextColumn], width: int) -> tuple[Lines, list[Lines]] | None:
    widths = [_least_width(column) for column in columns]
    room = width - sum(widths) - GAP * (len(widths) - 1)
    if room < 0:
        return None
    for i, column in enumerate(columns):
        share = min(_longest([column.head, *(cell.plain for cell in column.cells)]) - widths[i], room)
        widths[i] += share
        room -= share
    aligns = [column.align for column in columns]
    head: Lines = []
    if any(column.head for column in columns):
        head = _beside([Text(column.head) for column in columns], widths, aligns)
        head.append(Text("─" * (sum(widths) + GAP * (len(widths) - 1)), style="dim"))
    rows = zip(*(column.cells for column in columns), strict=True)
    return head, [_beside(row, widths, aligns) for row in rows]


def _least_width(column: TextColumn) -> int:
    """Return the width below which a table becomes a list: numbers stay on one line."""
    texts = [cell.plain for cell in column.cells]
    longest = _longest(texts)
    if column.align == "left" and not column.is_whole:
        word = max((cell_len(word) for text in texts for word in text.split()), default=0)
        longest = min(longest, max(MIN_WRAPPED, min(word, MAX_WORD)))
    return max(longest, *map(cell_len, column.head.split()), 1)


def _longest(texts: Sequence[str]) -> int:
    return max((cell_len(line) for text in texts for line in text.split("\n")), default=0)


def _beside(cells: Sequence[Text], widths: Sequence[int], aligns: Sequence[str]) -> Lines:
    """Return cells next to each other; a cell may have several lines."""
    columns = [wrapped(_folded(cell, width), width) for cell, width in zip(cells, widths, strict=True)]
    lines = []
    for i in range(max(map(len, columns))):
        parts: list[Text | str] = []
        for column, width, align in zip(columns, widths, aligns, strict=True):
            text = column[i] if i < len(column) else Text()
            space = " " * max(width - cell_len(text.plain), 0)
            parts += [space, text] if align == "right" else [text, space]
            parts.append(" " * GAP)
        line = Text.assemble(*parts)
        line.rstrip()
        lines.append(line)
    return lines


def _stacked(column: TextColumn, separators: int) -> list[Text]:
    """Return the cells of numbers with line breaks at the first ``separators`` of ``STACKED``."""
    if column.align == "left" or not separators:
        return column.cells
    cells = []
    for cell in column.cells:
        text = cell.plain
        for separator in STACKED[:separators]:
            text = text.replace(separator, f"\n{separator.strip(' ·')}")
        cells.append(Text(text, style=cell.style))
    return cells


def _folded(cell: Text, width: int) -> Text:
    """Return a cell whose long words are broken behind a separator, such as the slash of an address."""

    def broken(word: re.Match[str]) -> str:
        lines = [""]
        for part in re.split(r"(?<=[/._-])", word[0]):
            if lines[-1] and cell_len(lines[-1] + part) > width:
                lines.append("")
            lines[-1] += part
        return "\n".join(lines)

    text = re.sub(r"\S+", broken, cell.plain)
    return Text(text, style=cell.style) if text != cell.plain else cell

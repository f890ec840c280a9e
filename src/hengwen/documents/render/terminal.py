"""Print a document in a terminal, at any width."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table as RichTable
from rich.text import Text

from hengwen.documents.blocks import (
    Answers,
    Chart,
    Command,
    Decision,
    Details,
    Scores,
    Sentence,
    Table,
    Verdict,
)
from hengwen.documents.render.score_table import plain_table
from hengwen.documents.render.words import (
    SHAPES,
    STATISTICS,
    answer_name,
    omitted_words,
    same_kind,
    shape_of,
)
from hengwen.text.language import Bilingual, in_language
from hengwen.text.numbers import NOTHING
from hengwen.text.safety import one_line, strip_controls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType

    from hengwen.documents import blocks
    from hengwen.documents.blocks import Answer, Block, Cell, Column, Document, Series, Tone
    from hengwen.text.language import Language

STYLES: dict[Tone, str] = {
    "plain": "",
    "better": "blue",
    "worse": "red",
    "none": "dim",
    "open": "yellow",
    "rejected": "red",
    "untested": "yellow",
}
BARS = "▁▂▃▄▅▆▇█"
MIN_WRAPPED, MAX_WORD = 10, 18
"""A table becomes a list before a column of text is narrower than its longest word, within this range."""
STACKED = (" [", " · ", " (")
"""Before these, the text of a number may go on below: an interval, counts, a remark."""
GAP = 2
"""Spaces between two columns."""


def to_terminal(document: Document, console: Console, language: Language, *, verbose: bool = False) -> None:
    """Print a document; closed details are left out unless ``verbose`` is set."""
    page = _Page(console, language, verbose)
    page.print(Text(page.words(document.title), style="bold"))
    if document.notes:
        page.print(Text(" · ".join(map(page.words, document.notes)), style="dim"))
    page.sequence(document.blocks)
    closed = [] if verbose else [page.words(title) for title in _closed_titles(document.blocks)]
    if closed:
        hint = Bilingual("另见 -o FILE.html：", "more with -o FILE.html: ")
        page.gap()
        page.print(Text(page.words(hint) + " · ".join(dict.fromkeys(closed)), style="dim"))


def _closed_titles(blocks: Sequence[Block]) -> list[blocks.Text]:
    titles = []
    for block in blocks:
        if isinstance(block, Details):
            titles += _closed_titles(block.blocks) if block.is_open else [block.title]
        elif isinstance(block, Decision) and block.details:
            titles.append(STATISTICS)
    return titles


@dataclass(slots=True)
class _Page:
    console: Console
    language: Language
    verbose: bool

    def words(self, text: blocks.Text) -> str:
        return strip_controls(in_language(text, self.language))

    def print(self, item: RenderableType) -> None:
        self.console.print(item, overflow="fold")

    def indent(self, text: Text, first: Text | str = "  ") -> None:
        """Print a text whose lines start two columns to the right; ``first`` stands before the first line."""
        for line in text.wrap(self.console, max(self.console.width - 2, 1), overflow="fold"):
            line.rstrip()
            self.console.print(Text.assemble(first, line), soft_wrap=True)
            first = "  "

    def gap(self) -> None:
        self.console.print()

    def sequence(self, items: Sequence[Block]) -> None:
        """Print blocks; a blank line stands between kinds of block."""
        for _, group in same_kind(items):
            visible = [block for block in group if self.verbose or not _is_closed(block)]
            for i, block in enumerate(visible):
                if i == 0 or isinstance(block, (Table, Chart, Details, Answers)):
                    self.gap()
                self.block(block)

    def block(self, block: Block) -> None:
        match block:
            case Decision() | Scores():
                self.first_screen(block)
            case Verdict():
                self.verdict(block)
            case Sentence():
                text = self.marked(self.words(block.text), block.tone)
                self.print(Text(text.plain, style="dim") if block.is_note else text)
            case Command():
                purpose = f"{self.words(block.purpose)}: " if block.purpose else ""
                line = Text(purpose).append(one_line(block.line, len(block.line) + 1), style="bold")
                self.console.print(line, soft_wrap=True)
            case Table():
                self.table(block)
            case Chart():
                self.print(Text(self.words(block.title), style="bold"))
                for series in block.series:
                    self.indent(Text(_course(series)))
            case Answers():
                self.answers(block)
            case Details():
                self.print(Text(self.words(block.title), style="bold"))
                self.sequence(block.blocks)

    def marked(self, text: str, tone: Tone, style: str = "") -> Text:
        """Return a text with the shape and the colour of its tone."""
        return Text(f"{SHAPES[tone]} {text}" if SHAPES[tone] and text else text, style=STYLES[tone] or style)

    def verdict(self, verdict: Verdict) -> None:
        line = Text()
        if verdict.subject:
            line.append(f"{self.words(verdict.subject)}: ", style="bold")
        shape = Text(f"{SHAPES[verdict.tone] or '·'} ", style=STYLES[verdict.tone])
        self.indent(line.append(self.words(verdict.sentence)), shape)
        for evidence in verdict.evidence:
            self.indent(Text(self.words(evidence), style="dim"))

    def first_screen(self, block: Decision | Scores) -> None:
        if isinstance(block, Scores):
            self.table(plain_table(block))
            for line in block.lines if self.verbose else ():
                for text in line.details:
                    self.indent(Text(f"{line.address}: {self.words(text)}", style="dim"))
            return
        self.print(Text(self.words(block.title), style="bold"))
        for bullet in block.bullets:
            self.verdict(bullet)
        self.sequence((block.scores,) if block.scores else ())
        self.sequence(block.judges)
        if block.details and self.verbose:
            self.sequence((Details(title=STATISTICS, blocks=block.details),))

    def table(self, table: Table) -> None:
        if table.title:
            self.print(Text(self.words(table.title), style="bold"))
        heads = [self.words(column.head) for column in table.columns]
        rows = [[self.cell(cell) for cell in row] for row in table.rows]
        for separators in range(len(STACKED) + 1):  # parts below each other take less room
            cells = [
                [_stacked(*pair, separators) for pair in zip(table.columns, row, strict=True)] for row in rows
            ]
            widths = _least_widths(table, heads, cells)
            room = self.console.width - sum(widths) - GAP * (len(widths) - 1)
            if room >= 0:
                self.print(_rich_table(table, heads, cells, widths, room))
                break
        else:
            for row in rows:
                self.record(heads, row)
        for note in table.notes:
            self.print(Text(self.words(note), style="dim"))

    def cell(self, cell: Cell) -> Text:
        shape, text = shape_of(cell, self.language), self.words(cell.text)
        return Text(f"{shape} {text}" if shape else text, style=STYLES[cell.tone])

    def record(self, heads: Sequence[str], row: Sequence[Text]) -> None:
        """Print the row of a table that is too wide: its first cell, then the others with their heads."""
        self.print(Text(row[0].plain or NOTHING, style="bold"))
        pairs = [
            Text.assemble(
                f"{' '.join(head.split())} " if head else "",
                Text(" ".join(cell.plain.split("\n")), style=cell.style),
            )
            for head, cell in zip(heads[1:], row[1:], strict=True)
            if cell.plain
        ]
        if pairs:
            self.indent(Text(" · ").join(pairs))

    def answers(self, answers: Answers) -> None:
        self.print(Text(self.words(answers.title), style="bold"))
        for answer in answers.rows:
            self.answer(answer)
        if answers.omitted:
            self.print(Text(self.words(omitted_words(answers)), style="dim"))

    def answer(self, answer: Answer) -> None:
        rank = self.words(answer.rank)
        head = " ".join(part for part in (answer_name(answer), answer.headline, rank) if part)
        self.print(Text(one_line(head, 200)))
        self.indent(Text(one_line(answer.excerpt or answer.text, 200), style="dim"))
        for outcome in answer.outcomes if self.verbose else ():
            words = (outcome.name, outcome.text or outcome.status, outcome.reason)
            self.indent(Text(one_line(" ".join(words), 400)), "  · ")


def _is_closed(block: Block) -> bool:
    return isinstance(block, Details) and not block.is_open


def _least_widths(table: Table, heads: Sequence[str], rows: Sequence[Sequence[Text]]) -> list[int]:
    """Return the width of each column below which its table becomes a list: numbers stay on one line."""
    widths = []
    for i, (column, head) in enumerate(zip(table.columns, heads, strict=True)):
        texts = [row[i].plain for row in rows]
        longest = max((cell_len(line) for text in texts for line in text.split("\n")), default=0)
        if column.align == "left":
            word = max((cell_len(word) for text in texts for word in text.split()), default=0)
            longest = min(longest, max(MIN_WRAPPED, min(word, MAX_WORD)))
        widths.append(max(longest, *map(cell_len, head.split()), 1))
    return widths


def _stacked(column: Column, cell: Text, separators: int) -> Text:
    """Return a cell of numbers with line breaks at the first ``separators`` of ``STACKED``."""
    text = cell.plain
    for separator in STACKED[: separators if column.align == "right" else 0]:
        text = text.replace(separator, f"\n{separator.strip(' ·')}")
    return Text(text, style=cell.style)


def _rich_table(
    table: Table, heads: Sequence[str], rows: Sequence[Sequence[Text]], widths: Sequence[int], room: int
) -> RichTable:
    """Return a table whose columns share the ``room`` that is left above their least widths."""
    drawn = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    columns = []
    for i, (column, head, width) in enumerate(zip(table.columns, heads, widths, strict=True)):
        cells = [row[i] for row in rows]
        longest = max(
            cell_len(line) for text in (head, *(c.plain for c in cells)) for line in text.split("\n")
        )
        share = min(longest - width, room)
        room -= share
        drawn.add_column(Text(head), justify=column.align, overflow="fold", width=width + share)
        columns.append([_folded(cell, width + share) for cell in cells])
    for row in zip(*columns, strict=True):
        drawn.add_row(*row)
    return drawn


def _folded(cell: Text, width: int) -> Text:
    """Return a cell whose long words are broken behind a separator, such as the slash of an address."""

    def broken(word: re.Match[str]) -> str:
        lines = [""]
        for part in re.split(r"(?<=[/._-])", word[0]):
            if lines[-1] and cell_len(lines[-1] + part) > width:
                lines.append("")
            lines[-1] += part
        return "\n".join(lines)

    return Text(re.sub(r"\S+", broken, cell.plain), style=cell.style)


def _course(series: Series) -> str:
    """Return a series as bars over the range of its intervals, with its first and last value."""
    values = [point.value for point in series.points if point.value is not None]
    ends = [end for point in series.points for end in (point.interval or ())] + values
    if not values:
        return one_line(series.name, 200)
    low, span = min(ends), (max(ends) - min(ends)) or 1.0
    bars = "".join(
        " " if point.value is None else BARS[min(7, int((point.value - low) / span * 8))]
        for point in series.points
    )
    texts = [point.text for point in series.points if point.value is not None]
    course = texts[0] if len(texts) == 1 else f"{texts[0]} → {texts[-1]}"
    return one_line(" ".join(part for part in (series.name, bars, course) if part), 400)

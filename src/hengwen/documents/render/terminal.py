"""Print a document in a terminal, in the order of the page: as much as a screen holds, or all of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from hengwen.documents import blocks
from hengwen.documents.blocks import (
    AnswerPairs,
    AnswerTable,
    Block,
    Cell,
    Chart,
    Command,
    Decision,
    Details,
    Document,
    Scores,
    Sentence,
    Table,
    Tone,
    Verdict,
)
from hengwen.documents.render import answers
from hengwen.documents.render.words import (
    SHAPES,
    STATISTICS,
    cut_name,
    plain_table,
    printed,
    same_kind,
    shape_of,
    short_table,
)
from hengwen.text.language import COLON, Language, say
from hengwen.text.numbers import NOTHING, count, one_line, strip_controls

MAX_LINES = 25
"""Lines of a document of which not all is asked for."""
MAX_TITLE = 5
"""Lines of the title and its notes, where not all is asked for."""
MAX_JUDGE_LINES = 2
"""Lines of what is known of a judge, where not all is asked for."""
MAX_WORD, GAP = 18, 2
"""A table becomes a list before a column of text is narrower than its longest word, up to this; spaces
between columns."""
MAX_ID = 30
"""Columns of the id of a prompt."""
STYLES: dict[Tone, str] = {
    "plain": "",
    "better": "blue",
    "worse": "red",
    "none": "dim",
    "open": "yellow",
    "rejected": "red",
    "untested": "yellow",
}
_NARROW = str.maketrans("─●◆○▲▼◇✕–−→…·×≥≤±", "-**o^v?x-->..x><~")
"""Marks whose width is ambiguous, and what stands for them where they would take two columns."""
_EAST_ASIAN = ("gb", "cp936", "big5", "cp950", "shift", "cp932", "euc")
"""Beginnings of the names of encodings whose terminals draw such marks double."""
_OPENING, _CLOSING = "（“‘《「『([", "，。；：、？！）”’》」』%…)]·,.;:?!"
"""Marks that do not end a line, and marks that do not begin one."""
_SHORT = (Verdict, Sentence, Command)
Lines = list[Text]


def to_terminal(document: Document, console: Console, language: Language, *, verbose: bool = False) -> None:
    """Print the first ``MAX_LINES`` lines of a document without its details, or all of it."""
    page = _Page(console, language, verbose)
    lines = [line for section in page.document(document) for line in section]
    is_wide = marks_are_wide(console.encoding)
    for line in lines:
        if is_wide:
            line.plain = line.plain.translate(_NARROW)
        console.print(line, soft_wrap=True, highlight=False)


def marks_are_wide(encoding: str) -> bool:
    """Return whether the terminal draws marks of ambiguous width over two columns."""
    chosen = os.environ.get("VTE_CJK_WIDTH", "").lower()
    return chosen in ("1", "wide") if chosen else encoding.lower().startswith(_EAST_ASIAN)


@dataclass(slots=True)
class _Page:
    console: Console
    language: Language
    verbose: bool

    def words(self, text: blocks.Text) -> str:
        return strip_controls(printed(text, self.language))

    def wrapped(self, text: Text, first: Text | str = "", rest: str = "") -> Lines:
        return wrapped(text, self.console.width, first, rest)

    def document(self, document: Document) -> Iterator[Lines]:
        notes = " · ".join(map(self.words, document.notes))
        title = Text(self.words(document.title), style="bold")
        both = Text.assemble(title, (" · ", "dim"), (notes, "dim"))
        if notes and "\n" not in both.plain and both.cell_len <= self.console.width:
            title_lines = [both]
        else:
            title_lines = [*self.wrapped(title), *(self.wrapped(Text(notes, style="dim")) if notes else [])]
        if not self.verbose and len(title_lines) > MAX_TITLE:
            title_lines = ended(title_lines[:MAX_TITLE], self.console.width)
        yield title_lines
        sections = [section for section in self.sequence(document.blocks) if section]
        sections = [*sections[:1], *([Text(), *section] for section in sections[1:])]
        if self.verbose:
            yield from sections
            return
        hidden = [" ".join(self.words(item).split()) for item in _hidden_titles(document.blocks)]
        room = MAX_LINES - len(title_lines) - 2  # where the rest is takes two
        while sections and len(sections[0]) <= room:
            section = sections.pop(0)
            yield section
            room -= len(section)
        if sections and room > 3:
            kept, rest = sections[0][: room - 1], sections.pop(0)[room - 1 :]
            words = self.words(say("… {left_out} more", left_out=count(len(rest))))
            yield [*kept, Text(f"  {words}", style="dim")]
            hidden = hidden or [""]
        if hidden or sections:
            line = self.words(say("more: -v or -o FILE.html"))
            for name in filter(None, dict.fromkeys(hidden)):
                if cell_len(line) + cell_len(name) + 3 <= self.console.width:
                    line += f" · {name}"
            yield [Text(), Text(line, style="dim")]

    def sequence(self, items: Sequence[Block]) -> Iterator[Lines]:
        """Yield the blocks as sections; short neighbours of one kind are one section."""
        for _, group in same_kind(items):
            visible = [block for block in group if self.verbose or not _is_hidden(block)]
            if visible and isinstance(visible[0], _SHORT):
                yield [line for block in visible for line in self.short(block)]
                continue
            for block in visible:
                yield from self.block(block)
            for pairs in (pairs for block in group if not self.verbose for pairs in _worst(block)):
                yield self.pairs(pairs)

    def short(self, block: Block) -> Lines:
        match block:
            case Verdict():
                return self.verdict(block)
            case Sentence():
                text = self.words(block.text)
                style = "dim" if block.is_note else STYLES[block.tone]
                shape = SHAPES[block.tone] if text and not block.is_note else ""
                return self.wrapped(Text(f"{shape} {text}" if shape else text, style=style))
            case Command():
                purpose = " ".join(self.words(block.purpose).split())
                purpose += self.words(COLON) if purpose else ""
                return [Text(purpose).append(one_line(block.line, len(block.line) + 1), style="bold")]
            case _:
                raise TypeError(block)

    def block(self, block: Block) -> Iterator[Lines]:
        match block:
            case Decision():
                yield from self.decision(block)
            case Scores():
                yield self.table(plain_table(block) if self.verbose else short_table(block))
                if self.verbose:
                    yield [line for item in block.lines for text in item.details for line in self.note(text)]
            case Table():
                yield self.table(block)
            case Chart():
                yield [*self.heading(block.title), *(self.series(series) for series in block.series)]
            case AnswerPairs():
                yield self.pairs(block)
            case AnswerTable():
                yield self.note(answers.rest_answers(len(block.rows) + block.omitted))
            case Details():
                yield self.heading(block.title)
                yield from self.sequence(block.blocks)

    def note(self, text: blocks.Text) -> Lines:
        return self.wrapped(Text(self.words(text), style="dim"))

    def heading(self, title: blocks.Text) -> Lines:
        line = " ".join(self.words(title).split())
        return self.wrapped(Text(line, style="bold")) if line else []

    def series(self, series: blocks.Series) -> Text:
        texts = [point.text for point in series.points if point.value is not None]
        ends = texts[0] if len(texts) == 1 else " → ".join(texts[:: len(texts) - 1]) if texts else ""
        return Text("  " + one_line(" ".join(part for part in (series.name, ends) if part), 400))

    def verdict(self, verdict: Verdict) -> Lines:
        line = Text()
        if verdict.subject:
            line.append(self.words(COLON.join([verdict.subject, ""])), style="bold")
        line.append(self.words(verdict.sentence))
        lines = self.wrapped(line, Text(f"{SHAPES[verdict.tone] or '·'} ", STYLES[verdict.tone]), "  ")
        for evidence in verdict.evidence if self.verbose else ():
            lines += self.wrapped(Text(self.words(evidence), style="dim"), "  ", "  ")
        return lines

    def decision(self, decision: Decision) -> Iterator[Lines]:
        """Yield the title and its reasons, the table, and what is known of the judges."""
        reasons = [line for item in decision.bullets for line in self.verdict(item)]
        yield [*self.heading(decision.title), *reasons]
        if decision.scores:
            yield from self.block(decision.scores)
        judges = [self.verdict(item) for item in decision.judges]
        if not self.verbose:
            judges = [
                item if len(item) <= MAX_JUDGE_LINES else ended(item[:MAX_JUDGE_LINES], self.console.width)
                for item in judges
            ]
        yield [line for item in judges for line in item]
        if decision.details and self.verbose:
            yield from self.sequence((Details(title=STATISTICS, blocks=decision.details),))

    def table(self, table: Table) -> Lines:
        """Return a table whose columns share the width, or a list of its rows where they do not fit."""
        indices = [i for i, column in enumerate(table.columns) if self.verbose or not column.is_detail]
        columns = [table.columns[i] for i in indices]
        rows = [[self.cell(row[i]) for i in indices] for row in table.rows]
        grid = Grid(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim", show_edge=False)
        least = -GAP
        for i, column in enumerate(columns):
            texts = [self.words(column.head), *(row[i].plain for row in rows)]
            is_whole = column.align == "right" or column.is_whole
            cell_words = [line for text in texts for line in (text.split("\n") if is_whole else text.split())]
            longest = max(map(cell_len, cell_words), default=1)
            width = longest if is_whole else min(longest, MAX_WORD)
            grid.add_column(
                texts[0], justify=column.align, no_wrap=is_whole, overflow="fold", min_width=width
            )
            least += width + GAP
        for row in rows:
            grid.add_row(*row)
        if least > self.console.width:
            body = [line for row in rows for line in self.record([column.head for column in columns], row)]
        else:
            body = [self.joined(line) for line in self.console.render_lines(grid, pad=False)]
        return [
            *self.heading(table.title),
            *body,
            *(line for note in table.notes for line in self.note(note)),
        ]

    def joined(self, segments: Sequence[object]) -> Text:
        line = Text()
        for segment in segments:
            line.append(segment.text, segment.style)  # type: ignore[attr-defined]
        line.rstrip()
        return line

    def record(self, heads: Sequence[blocks.Text], row: Sequence[Text]) -> Lines:
        """Return a row of a table that is too wide: its first cell, and the others with their heads."""
        first, *others = row
        first.stylize("bold")
        pairs = [
            Text.assemble(f"{self.words(head)} ", cell)
            for head, cell in zip_longest(heads[1:], others, fillvalue="")
            if isinstance(cell, Text) and cell.plain
        ]
        below = self.wrapped(Text(" · ").join(pairs), "  ", "  ") if pairs else []
        return [*self.wrapped(first if first.plain else Text(NOTHING), "", "  "), *below]

    def cell(self, cell: Cell) -> Text:
        shape, text = shape_of(cell, self.language), self.words(cell.text)
        return Text(f"{shape} {text}" if shape else text, style=STYLES[cell.tone])

    def pairs(self, block: AnswerPairs) -> Lines:
        """Return the prompts that changed most: the change, the prompt, and on what the change rests."""
        pairs = block.pairs if self.verbose else block.pairs[: answers.SHOWN_PROMPTS]
        lines = [] if self.verbose else self.heading(answers.worst_words(block))
        for pair in pairs:
            prompt, change, lost_on = answers.prompt_line(pair, self.language)
            moved = (f"{SHAPES[block.tone]} {change}", STYLES[block.tone])
            if self.verbose:
                lines += self.wrapped(Text.assemble(moved, f" {prompt}"), "", "  ")
                lines += self.wrapped(Text(lost_on, style="dim"), "  ", "  ")
                continue
            sample_id = cut_name(pair.sample_id, MAX_ID, cell_len)
            line = Text.assemble(moved, f" {sample_id} ", (lost_on, "dim"))
            lines += [line] if line.cell_len <= self.console.width else ended([line], self.console.width)
        if self.verbose and block.omitted:
            lines += self.note(answers.rest_words(block, block.omitted))
        return lines


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


def ended(lines: Lines, width: int) -> Lines:
    """Return lines whose last one ends with an ellipsis within the width; no word is cut."""
    last = lines[-1].copy()
    last.rstrip()
    kept = wrapped(last, width - 2)[0]
    kept.rstrip()
    return [*lines[:-1], kept.append(" …" if kept.plain else "…")]


def _is_hidden(block: Block) -> bool:
    """Return whether a block is left out unless all is asked for: charts, and details that are not short."""
    if isinstance(block, Details):
        return not block.is_open or not all(isinstance(item, _SHORT) for item in block.blocks)
    return isinstance(block, (Chart, AnswerPairs, AnswerTable))


def _worst(block: Block) -> Iterator[AnswerPairs]:
    """Yield the prompts that got worse in scores that are shown to have fallen."""
    if isinstance(block, AnswerPairs) and block.is_open:
        yield block
    elif isinstance(block, Details) and block.is_open:
        for item in block.blocks:
            yield from _worst(item)


def _hidden_titles(items: Sequence[Block]) -> Iterator[blocks.Text]:
    for block in items:
        if isinstance(block, Decision) and block.details:
            yield STATISTICS
        elif isinstance(block, (Details, Chart)) and _is_hidden(block):
            yield block.title

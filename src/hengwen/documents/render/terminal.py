"""Print a document in a terminal, at any width: the conclusion, one table, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from hengwen.documents.answers.blocks import AnswerPair, AnswerPairs, AnswerTable
from hengwen.documents.blocks import Chart, Command, Decision, Details, Scores, Sentence, Table, Verdict
from hengwen.documents.render import answers
from hengwen.documents.render.score_table import plain_table
from hengwen.documents.render.terminal_fit import MAX_LINES, REASONS, Section, ended, fit
from hengwen.documents.render.terminal_marks import course, marks_are_wide, narrow
from hengwen.documents.render.terminal_scores import STYLES, score_section
from hengwen.documents.render.terminal_tables import TextColumn, record_lines, table_lines, wrapped
from hengwen.documents.render.words import SHAPES, STATISTICS, cut_name, printed, same_kind, shape_of
from hengwen.text.language import COLON, say
from hengwen.text.safety import one_line, strip_controls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from hengwen.documents import blocks
    from hengwen.documents.blocks import Block, Cell, Document, Series
    from hengwen.documents.render.terminal_tables import Lines
    from hengwen.text.language import Language

MAX_JUDGE_LINES = 2
"""Lines of what is known of a judge, where not all is asked for."""
MAX_ID = 30
"""Columns of the id of a prompt."""
_MORE = say("more: -v or -o FILE.html")
_SHORT = (Verdict, Sentence, Command)


def to_terminal(document: Document, console: Console, language: Language, *, verbose: bool = False) -> None:
    """Print the conclusions of a document in at most ``MAX_LINES`` lines, or all of it.

    Without ``verbose``, details with tables, evidence and charts are named in the last line.
    """
    page = _Page(console.width, language, verbose)
    sections = page.sections(document)
    is_wide = marks_are_wide(console.encoding)
    for line in (line for section in sections for line in section.lines(language)):
        if is_wide:
            line.plain = narrow(line.plain)
        console.print(line, soft_wrap=True, highlight=False)


@dataclass(slots=True)
class _Page:
    width: int
    language: Language
    verbose: bool

    def words(self, text: blocks.Text) -> str:
        return strip_controls(printed(text, self.language))

    def sections(self, document: Document) -> list[Section]:
        sections = [self.title(document), *self.sequence(document.blocks)]
        for section in sections[1:2]:
            section.has_gap = bool(section.head and not section.items) and section.weight != REASONS
        if self.verbose:
            return sections
        titles = [" ".join(self.words(title).split()) for title in _hidden_titles(document.blocks)]
        more = Section(head=[self.more(titles)])
        was_cut = fit(sections, self.width, max_lines=MAX_LINES - (more.height if titles else 0))
        if was_cut and not titles:
            fit(sections, self.width, max_lines=MAX_LINES - more.height)
        return [*sections, more] if titles or was_cut else sections

    def title(self, document: Document) -> Section:
        title = Text(self.words(document.title), style="bold")
        notes = Text(" · ".join(map(self.words, document.notes)), style="dim")
        both = Text.assemble(title, (" · ", "dim"), notes)
        if notes and "\n" not in both.plain and both.cell_len <= self.width:
            return Section(head=[both], has_gap=False)
        lines = [*wrapped(title, self.width), *(wrapped(notes, self.width) if notes else [])]
        return Section(head=lines[:1], items=[[line] for line in lines[1:]], has_gap=False)

    def more(self, titles: Sequence[str]) -> Text:
        """Return where the rest is, with as many of its titles as there is room for."""
        line = Text(self.words(_MORE), style="dim")
        for title in dict.fromkeys(titles):
            if line.cell_len + cell_len(title) + 3 > self.width:
                break
            line.append(f" · {title}")
        return line

    def sequence(self, items: Sequence[Block]) -> Iterator[Section]:
        """Yield the blocks as sections; neighbours of one kind are one section, tables one each."""
        for _, group in same_kind(items):
            visible = [block for block in group if self.verbose or not _is_hidden(block)]
            if visible and isinstance(visible[0], _SHORT):
                yield Section(
                    items=[self.short(block) for block in visible],
                    is_note=all(isinstance(block, Sentence) and block.is_note for block in visible),
                    weight=REASONS if isinstance(visible[0], Command) else 0,
                )
                continue
            for block in visible:
                yield from self.block(block)
            for block in group if not self.verbose else ():
                yield from (self.answers(pairs) for pairs in _worst(block))

    def short(self, block: Block) -> Lines:
        match block:
            case Verdict():
                return self.verdict(block)
            case Sentence():
                text = self.words(block.text)
                style = "dim" if block.is_note else STYLES[block.tone]
                shape = SHAPES[block.tone] if text and not block.is_note else ""
                return wrapped(Text(f"{shape} {text}" if shape else text, style=style), self.width)
            case Command():
                purpose = " ".join(self.words(block.purpose).split())
                purpose += self.words(COLON) if purpose else ""
                return [Text(purpose).append(one_line(block.line, len(block.line) + 1), style="bold")]
            case _:
                raise TypeError(block)

    def block(self, block: Block) -> Iterator[Section]:
        match block:
            case Decision():
                yield from self.decision(block)
            case Scores():
                yield self.scores(block) if self.verbose else score_section(block, self.width, self.words)
            case Table():
                yield self.table(block)
            case Chart() if not block.x_title:
                lines = [wrapped(_course(series), self.width, "  ", "  ") for series in block.series]
                yield Section(head=self.heading(block.title), items=lines)
            case AnswerPairs() | AnswerTable():
                yield self.answers(block)
            case Details():
                yield Section(head=self.heading(block.title))
                yield from self.sequence(block.blocks)

    def heading(self, title: blocks.Text) -> Lines:
        line = " ".join(self.words(title).split())
        return wrapped(Text(line, style="bold"), self.width) if line else []

    def verdict(self, verdict: Verdict) -> Lines:
        line = Text()
        if verdict.subject:
            line.append(self.words(COLON.join([verdict.subject, ""])), style="bold")
        line.append(self.words(verdict.sentence))
        lines = wrapped(line, self.width, Text(f"{SHAPES[verdict.tone] or '·'} ", STYLES[verdict.tone]), "  ")
        for evidence in verdict.evidence if self.verbose else ():
            lines += wrapped(Text(self.words(evidence), style="dim"), self.width, "  ", "  ")
        return lines

    def decision(self, decision: Decision) -> Iterator[Section]:
        """Yield the title and its reasons, the table, and what is known of the judges."""
        bullets = [self.verdict(item) for item in decision.bullets]
        yield Section(head=self.heading(decision.title), items=bullets, weight=REASONS)
        if decision.scores:
            yield from self.sequence((decision.scores,))
        judges = [self.verdict(item) for item in decision.judges]
        if not self.verbose:
            judges = [
                item if len(item) <= MAX_JUDGE_LINES else ended(item[:MAX_JUDGE_LINES], self.width)
                for item in judges
            ]
        if judges:
            yield Section(items=judges, shortest=1, weight=REASONS)
        if decision.details and self.verbose:
            yield from self.sequence((Details(title=STATISTICS, blocks=decision.details),))

    def scores(self, scores: Scores) -> Section:
        """Return all that is known of each score: its texts and the statistics behind its verdict."""
        section = self.table(plain_table(scores))
        for item, line in zip(section.items, scores.lines, strict=True):
            for text in line.details:
                item += wrapped(Text(self.words(text), style="dim"), self.width, "  ", "  ")
        return section

    def table(self, table: Table) -> Section:
        columns = []
        for i, column in enumerate(table.columns):
            if column.is_detail and not self.verbose:
                continue
            cells = [row[i] for row in table.rows]
            texts = [self.cell(cell) for cell in cells]
            has_bars = any(cell.bar for cell in cells)
            if has_bars:
                tones = [Text(style=STYLES[cell.bar.tone if cell.bar else "plain"]) for cell in cells]
                columns.append(TextColumn(head="", cells=tones, bars=tuple(cell.bar for cell in cells)))
            columns.append(
                TextColumn(
                    head=self.words(column.head),
                    align=column.align,
                    cells=texts,
                    is_whole=has_bars or column.is_whole,
                )
            )
        drawn = table_lines(columns, self.width)
        head, shortest = self.heading(table.title), 2
        if drawn is None:
            shortest = 3
            rows = [record_lines(columns, row, self.width) for row in range(len(table.rows))]
        else:
            head += drawn[0]
            rows = drawn[1]
        notes = [
            line for note in table.notes for line in wrapped(Text(self.words(note), style="dim"), self.width)
        ]
        return Section(head=head, items=rows, notes=notes, shortest=shortest)

    def cell(self, cell: Cell) -> Text:
        shape, text = shape_of(cell, self.language), self.words(cell.text)
        return Text(f"{shape} {text}" if shape else text, style=STYLES[cell.tone])

    def answers(self, block: AnswerPairs | AnswerTable) -> Section:
        """Return the prompts that changed most: the change, what was asked, and on what the change rests."""
        if isinstance(block, AnswerTable):
            rest = answers.rest_answers(len(block.rows) + block.omitted)
            return Section(items=[wrapped(Text(self.words(rest), style="dim"), self.width)])
        if not self.verbose:
            items = [self.prompt(pair, block) for pair in block.pairs[: answers.SHOWN_PROMPTS]]
            return Section(head=self.heading(answers.worst_words(block)), items=items)
        items = [self.prompt(pair, block) for pair in block.pairs]
        if block.omitted:
            words = self.words(answers.rest_words(block, block.omitted))
            items.append(wrapped(Text(words, style="dim"), self.width))
        return Section(items=items)

    def prompt(self, pair: AnswerPair, block: AnswerPairs) -> Lines:
        """Return a prompt that changed: in one line where not all is asked for."""
        prompt, change, lost_on = answers.prompt_line(pair, self.language)
        moved = (f"{SHAPES[block.tone]} {change}", STYLES[block.tone])
        if self.verbose:
            lines = wrapped(Text.assemble(moved, f" {prompt}"), self.width, "", "  ")
            return [*lines, *wrapped(Text(lost_on, style="dim"), self.width, "  ", "  ")]
        line = Text.assemble(moved, f" {cut_name(pair.sample_id, MAX_ID, cell_len)} ", (lost_on, "dim"))
        return [line] if line.cell_len <= self.width else ended([line], self.width)


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


def _course(series: Series) -> Text:
    """Return a series as heights, with its first and last value."""
    texts = [point.text for point in series.points if point.value is not None]
    ends = texts[0] if len(texts) == 1 else " → ".join(texts[:: len(texts) - 1]) if texts else ""
    return Text(one_line(" ".join(part for part in (series.name, course(series.points), ends) if part), 400))

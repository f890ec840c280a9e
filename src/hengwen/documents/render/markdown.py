"""Render a document as GitHub-flavoured Markdown; every text is escaped, also for table cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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
    ANSWER,
    EMPTY_ANSWER,
    SHAPES,
    STATISTICS,
    plain_table,
    printed,
    same_kind,
    shape_of,
)
from hengwen.text.language import COLON, Language, in_language
from hengwen.text.numbers import number, strip_controls

_SPECIAL = re.compile(r"([\\`*_\[\]|~$#!])")
_BLOCK_START = re.compile(r"^([-+=]|\d+[.)])(?=\s|$|[-=])")


def to_markdown(document: Document, language: Language) -> str:
    """Return a document as Markdown."""
    lines = [f"# {_text(document.title, language)}", ""]
    if document.notes:
        lines += [" · ".join(_text(note, language) for note in document.notes), ""]
    lines += _blocks(document.blocks, language, 2)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


def escape(text: str) -> str:
    """Escape text for Markdown, so that it is shown literally and on one line, also in a table cell."""
    text = strip_controls(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _SPECIAL.sub(r"\\\1", text).replace("://", "&#58;//").replace("www.", "www&#46;")
    text = text.replace("@", "@&#8203;")  # else GitHub notifies whom it names
    line = "<br>".join(" ".join(line.split()) for line in text.strip().split("\n"))
    return _BLOCK_START.sub(lambda match: f"{match[1][:-1]}\\{match[1][-1]}", line)


def code_span(text: str) -> str:
    """Return a text as inline code, which may hold backticks."""
    line = " ".join(strip_controls(text).split())
    fence = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def _text(text: blocks.Text, language: Language) -> str:
    return escape(printed(text, language))


def _blocks(items: Sequence[Block], language: Language, level: int) -> Iterator[str]:
    for _, group in same_kind(items):
        for block in group:
            yield from _block(block, language, level)
        yield ""


def _block(block: Block, language: Language, level: int) -> Iterator[str]:
    match block:
        case Decision() | Scores():
            yield from _first_screen(block, language, level)
        case Verdict():
            subject = f"**{_text(block.subject, language)}**: " if block.subject else ""
            yield f"- {_marked(subject + _text(block.sentence, language), block.tone)}"
            yield from (f"  - {_text(evidence, language)}" for evidence in block.evidence)
        case Sentence():
            yield from (_marked(_text(block.text, language), block.tone), "")
        case Command():
            purpose = (
                f"{_text(block.purpose, language)}{in_language(COLON, language)}" if block.purpose else ""
            )
            yield f"- {purpose}{code_span(block.line)}"
        case Table():
            yield from _table(block, language)
        case Chart():
            yield from () if block.is_in_table else _chart(block, language)
        case AnswerPairs():
            yield from _pairs(block, language)
        case AnswerTable():
            yield from _answers(block, language)
        case Details():
            yield from (f"{'#' * min(level, 6)} {_text(block.title, language)}", "")
            yield from _blocks(block.blocks, language, level + 1)


def _first_screen(block: Decision | Scores, language: Language, level: int) -> Iterator[str]:
    if isinstance(block, Scores):
        yield from _table(plain_table(block), language)
        evidence = [(line.address, text) for line in block.lines for text in line.details]
        yield from (f"- {escape(address)}: {_text(text, language)}" for address, text in evidence)
        yield ""
        return
    yield from (f"{'#' * min(level, 6)} {_text(block.title, language)}", "")
    yield from _blocks(block.bullets, language, level)
    yield from _blocks((block.scores,) if block.scores else (), language, level)
    yield from _blocks(block.judges, language, level)
    if block.details:
        yield from _block(Details(title=STATISTICS, blocks=block.details), language, level + 1)


def _marked(text: str, tone: Tone) -> str:
    return f"{SHAPES[tone]} {text}" if SHAPES[tone] else text


def _table(table: Table, language: Language) -> Iterator[str]:
    if table.title:
        yield from (f"**{_text(table.title, language)}**", "")
    yield _row(_text(column.head, language) for column in table.columns)
    yield _row("---:" if column.align == "right" else "---" for column in table.columns)
    yield from (_row(_cell(cell, language) for cell in row) for row in table.rows)
    yield ""
    for note in table.notes:
        yield from (_text(note, language), "")


def _row(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell, language: Language) -> str:
    shape, text = shape_of(cell, language), _text(cell.text, language)
    return f"{shape} {text}" if shape else text


def _chart(chart: Chart, language: Language) -> Iterator[str]:
    """Return the values of a chart in words, because Markdown draws none."""
    yield from (f"**{_text(chart.title, language)}**", "")
    for series in chart.series:
        hints = "; ".join(
            _text(point.hint or f"{point.label}: {point.text}", language) for point in series.points
        )
        yield f"- {escape(series.name)}: {hints}" if series.name else f"- {hints}"
    yield ""


def _pairs(block: AnswerPairs, language: Language) -> Iterator[str]:
    """Return the prompts that changed most, and how many others there are."""
    yield f"| | {_text(answers.CHANGE, language)} | {_text(answers.LOST_ON[block.tone], language)} |"
    yield "| --- | ---: | --- |"
    for pair in block.pairs[: answers.SHOWN_PROMPTS]:
        yield _row(escape(text) for text in answers.prompt_line(pair, language))
    yield ""
    rest = len(block.pairs) + block.omitted - answers.SHOWN_PROMPTS
    if rest > 0:
        yield from (_text(answers.rest_words(block, rest), language), "")


def _answers(table: AnswerTable, language: Language) -> Iterator[str]:
    """Return the lowest answers, and how many others there are."""
    heads = [_text(answers.COLUMNS[key], language) for key in ("prompt", "status")]
    heads += [*(escape(column.head) for column in table.columns), _text(ANSWER, language)]
    yield f"| | {' | '.join(heads)} |"
    yield _row("---:" if 3 <= i < 3 + len(table.columns) else "---" for i in range(4 + len(table.columns)))
    for row in table.rows[: answers.SHOWN_ANSWERS]:
        values = (
            "" if value is None else number(value, column.decimals)
            for value, column in zip(row.values, table.columns, strict=True)
        )
        name = f"{row.sample_id} · {row.repeat}" if row.repeat > 1 else row.sample_id
        excerpt = row.excerpt or in_language(EMPTY_ANSWER, language)
        yield _row(escape(text) for text in (row.checkpoint, name, row.status, *values, excerpt))
    yield ""
    rest = len(table.rows) + table.omitted - answers.SHOWN_ANSWERS
    if rest > 0:
        yield from (_text(answers.rest_answers(rest), language), "")

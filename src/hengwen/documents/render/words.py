"""What the faces have in common: the shapes of tones, and their own words."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from hengwen.documents.blocks import (
    Block,
    Cell,
    Chart,
    Column,
    Decision,
    Details,
    Document,
    ScoreLine,
    Scores,
    Table,
    Text,
    Tone,
    Value,
)
from hengwen.documents.cells import without_interval
from hengwen.errors import ConfigError, PluginError
from hengwen.text.language import COLON, LIST_COMMA, SEMICOLON, Bilingual, Language, both, in_language, say
from hengwen.text.numbers import NOTHING, no_formula, strip_controls

SHAPES: dict[Tone, str] = {
    "plain": "",
    "better": "▲",
    "worse": "▼",
    "none": "–",
    "open": "◇",
    "rejected": "✕",
    "untested": "?",
}
"""Shapes differ in outline, so that they differ without colour too."""
EMPTY_ANSWER = say("(empty)")
ANSWER = say("answer")
SCORE = say("score")
COMPARED = say("before → after")
DIFFERENCE = say("difference on the same prompts")
VERDICT = say("verdict")
PROMPTS = say("prompts")
MAX_NARROW = 40
"""Above this number of points, a chart takes the full width."""
CONTENTS = say("contents")
THEME = say("light / dark")
STATISTICS = say("The statistics behind these sentences")

_HYPHEN = re.compile(r"(?<![^\s(\[（：，])-(?=\.?\d)")
"""A hyphen before a number, where people read a minus sign."""


def printed(text: Text, language: Language) -> str:
    """Return a text as a person reads it: with a minus sign before a number instead of a hyphen."""
    return _HYPHEN.sub("\N{MINUS SIGN}", in_language(text, language))


def shape_of(cell: Cell, language: Language) -> str:
    """Return the shape before the text of a cell; a cell without a value has none."""
    return "" if in_language(cell.text, language) in ("", NOTHING) else SHAPES[cell.tone]


def contents(document: Document) -> list[tuple[Text, str]]:
    """Return titles and keys for the table of contents: the open parts of a document that have a key."""
    entries: list[tuple[Text, str]] = []
    for block in document.blocks:
        if isinstance(block, Decision):
            entries.append((say("Decision"), "decision"))
        elif isinstance(block, Details) and block.is_open and block.key:
            entries.append((block.title, block.key))
    return entries if len(entries) > 1 else []


def is_broad(chart: Chart) -> bool:
    """Return whether a chart takes the full width of a page."""
    return max(len(series.points) for series in chart.series) > MAX_NARROW


def same_kind(blocks: Sequence[Block]) -> list[tuple[str, list[Block]]]:
    """Return the blocks in groups of neighbours of one kind, each with the kind in lower case."""
    groups = groupby(blocks, key=lambda block: type(block).__name__.lower())
    return [(kind, list(group)) for kind, group in groups]


def cut_name(name: str, most: float, size: Callable[[str], float]) -> str:
    """Return a name, cut in its middle if it is longer than ``most``: checkpoints differ at the end."""
    name = " ".join(strip_controls(name).split())
    if size(name) <= most:
        return name
    room = most - size("…")
    end = next((name[i:] for i in range(len(name)) if size(name[i:]) <= room * 2 / 3), "")
    room -= size(end)
    start = next(name[:i] for i in range(len(name), -1, -1) if size(name[:i]) <= room)
    return f"{start}…{end}"


def plain_table(scores: Scores) -> Table:
    """Return a table with a row and a record for each score."""
    columns = (
        (Column(key="score", head=SCORE), "address"),
        (Column(key="compared", head=scores.compared or COMPARED, align="right"), "compared"),
        (Column(key="difference", head=DIFFERENCE, align="right"), "difference"),
        (Column(key="p", head="p", align="right"), "p"),
        (Column(key="chosen", head=f"{scores.chosen} [95%]", align="right"), "chosen"),
        (Column(key="prompts", head=PROMPTS, align="right"), "prompts"),
        (Column(key="verdict", head=VERDICT), "word"),
    )
    rows = [dict(_texts(line)) for line in scores.lines]
    kept = [(column, key) for column, key in columns if any(any(row[key]) for row in rows)]
    tones = [line.tone for line in scores.lines]
    return Table(
        key=scores.key,
        title=scores.title,
        columns=tuple(column for column, _ in kept),
        rows=tuple(
            tuple(Cell(text=row[key], tone=tone if key == "word" else "plain") for _, key in kept)
            for row, tone in zip(rows, tones, strict=True)
        ),
        notes=(*families(scores), *scores.legend),
        records=tuple(map(_record, scores.lines)),
    )


def short_table(scores: Scores) -> Table:
    """Return a table with a row for each score: two values, their change without interval, the verdict."""
    columns = (
        Column(key="score", head=SCORE),
        Column(key="compared", head=say("from → to"), align="right"),
        Column(key="difference", head=say("change"), align="right"),
        Column(key="p", head="p", align="right"),
        Column(key="verdict", head=VERDICT, is_whole=True),
    )
    rows = []
    for line in scores.lines:
        ends = [both(end) for end in (line.before, line.after) if end]
        change = Bilingual(*map(without_interval, both(line.difference)))
        texts = (line.name, both(" → ").join(ends), change, dict(_texts(line))["p"], line.word)
        tones: tuple[Tone, ...] = ("plain", "plain", "plain", "plain", line.tone)
        rows.append(tuple(Cell(text=text, tone=tone) for text, tone in zip(texts, tones, strict=True)))
    return Table(
        key=scores.key, title=scores.title, columns=columns, rows=tuple(rows), notes=tuple(families(scores))
    )


def families(scores: Scores) -> Iterator[Bilingual]:
    """Yield for which tests the p-values are corrected: the commonest first, and the scores with others."""
    names: dict[Bilingual, list[Bilingual]] = {}
    for line in scores.lines:
        if line.p and line.family:
            names.setdefault(both(line.family), []).append(both(line.name))
    ordered = sorted(names, key=lambda family: -len(names[family]))
    for first in ordered[:1]:
        others = [COLON.join([LIST_COMMA.join(names[family]), family]) for family in ordered[1:]]
        yield COLON.join(["p", SEMICOLON.join([first, *others])])


def _texts(line: ScoreLine) -> Iterator[tuple[str, Bilingual]]:
    """Yield the texts of the cells of a line."""
    yield "address", both(line.address)
    yield "compared", Bilingual(*(_compared(line, in_zh) for in_zh in (True, False)))
    yield "p", Bilingual(*(p.removeprefix("p = ").removeprefix("p ") for p in both(line.p)))
    yield "chosen", both(line.chosen)
    yield from (("difference", both(line.difference)), ("prompts", both(line.prompts)))
    yield "word", both(line.word)


def _compared(line: ScoreLine, in_zh: bool) -> str:
    before, after = (in_language(text, "zh" if in_zh else "en") for text in (line.before, line.after))
    ends = (f"{before} {line.before_name}".rstrip(), f"{after} {line.after_name}".rstrip())
    return " → ".join(end for end in ends if end)


def _record(line: ScoreLine) -> dict[str, Value]:
    values = dict(line.values)
    if line.bar is not None:
        low, high = line.bar.interval or (None, None)
        values |= {"difference": line.bar.value, "difference_low": low, "difference_high": high}
    names = {"before_name": line.before_name or None, "after_name": line.after_name or None}
    return {"score": line.address, **names, **values}


class Rows(NamedTuple):
    """Rows with the same columns; None where a row has no value."""

    columns: list[str]
    rows: list[list[Value]]


def to_rows(document: Document, language: Language) -> Rows:
    """Return the rows of all tables of a document; of several tables with the column ``table`` first."""
    tables = list(_tables(document.blocks))
    if not tables:
        raise ConfigError("this result has no table; write .html, .md or .json")
    records = [(table, record) for table in tables for record in _records(table, language)]
    columns: dict[str, None] = {}
    for table in tables:
        keys = [key for owner, record in records if owner is table for key in record]
        columns |= dict.fromkeys(keys or [_name(column) for column in table.columns])
    names = list(columns)
    rows = [[record.get(name) for name in names] for _, record in records]
    if len(tables) < 2:
        return Rows(names, rows)
    return Rows(["table", *names], [[table.key, *row] for (table, _), row in zip(records, rows, strict=True)])


def to_csv(document: Document, language: Language) -> str:
    """Return the rows of a document as CSV text that no spreadsheet runs as a formula."""
    columns, rows = to_rows(document, language)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(_csv_value, columns))
    writer.writerows([_csv_value(value) for value in row] for row in rows)
    return file.getvalue()


def to_parquet(document: Document, language: Language) -> bytes:
    """Return the rows of a document as a Parquet file."""
    check_parquet()
    import pyarrow
    from pyarrow import parquet

    columns, rows = to_rows(document, language)
    data = {name: _column([row[i] for row in rows]) for i, name in enumerate(columns)}
    file = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table(data), file)
    content: bytes = file.getvalue().to_pybytes()
    return content


def check_parquet() -> None:
    """Check that Parquet files can be written."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise PluginError("Parquet files need pyarrow: pip install 'hengwen[parquet]'") from None


def _tables(blocks: Sequence[Block]) -> Iterator[Table]:
    for block in blocks:
        match block:
            case Table():
                yield block
            case Scores():
                yield plain_table(block)
            case Decision():
                yield from () if block.scores is None else [plain_table(block.scores)]
                yield from _tables(block.details)
            case Details():
                yield from _tables(block.blocks)


def _records(table: Table, language: Language) -> Iterator[dict[str, Value]]:
    for values in table.records:
        yield {strip_controls(key): _clean(value) for key, value in values.items()}
    for row in () if table.records else table.rows:
        record: dict[str, Value] = {}
        for column, cell in zip(table.columns, row, strict=True):
            for key, value in _values(cell, language).items():
                record[_name(column, key)] = value
        yield record


def _name(column: Column, key: str = "") -> str:
    return strip_controls(f"{column.key}_{key}" if key else column.key)


def _values(cell: Cell, language: Language) -> dict[str, Value]:
    text = strip_controls(in_language(cell.text, language))
    values = dict(cell.values) or {"": None if text in ("", NOTHING) else text}
    return {key: _clean(value) for key, value in values.items()}


def _clean(value: Value) -> Value:
    return strip_controls(value) if isinstance(value, str) else value


def _csv_value(value: Value) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return no_formula(strip_controls(value)) if isinstance(value, str) else value


def _column(values: list[Value]) -> list[Value]:
    """Return the values of a column of one type: numbers as they are, a mixture as text."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 or kinds == {int, float}:
        return [float(value) if kinds == {int, float} and value is not None else value for value in values]
    return [None if value is None else str(value) for value in values]

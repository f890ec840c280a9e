"""Every kind of document in every face and both languages: golden files, equal numbers, and a valid record.

To add a kind: write ``tests/support/document_examples/KIND.py`` and run ``make golden``.
"""

from __future__ import annotations

import io
import json
import os
import re
from html import unescape
from pathlib import Path

import jsonschema
import pytest
from document_examples import KINDS
from rich.cells import cell_len
from rich.console import Console
from rows import each_row

from hengwen.documents.blocks import Decision, Details, Document, Scores, Table
from hengwen.documents.render.markdown import to_markdown
from hengwen.documents.render.terminal import to_terminal
from hengwen.documents.render.words import plain_table, to_csv, to_rows
from hengwen.documents.render.write import schema_kinds, schema_text, to_html, to_json
from hengwen.text.language import Language, in_language

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "documents"
LANGUAGES: tuple[Language, ...] = ("zh", "en")


def printed(document: Document, language: Language, width: int = 80, *, verbose: bool = False) -> str:
    file = io.StringIO()
    to_terminal(document, Console(width=width, file=file), language, verbose=verbose)
    return re.sub(" +$", "", file.getvalue(), flags=re.MULTILINE)


def html_without_style(document: Document, language: Language) -> str:
    packaged = re.compile(r"<(style|script)>.*?</\1>", re.DOTALL)
    page = packaged.sub(r"<\1></\1>", to_html(document, language))
    return re.sub(r"sha256-[\w+/=]+", "sha256-", page)


FACES = {
    "txt": printed,
    "html": html_without_style,
    "md": to_markdown,
    "csv": to_csv,
    "json": lambda document, _: to_json(document),
}


def rounded(text: str) -> str:
    """Round long fractions to nine digits, because the last bits differ between machines."""
    return re.sub(r"-?\d+\.\d{9,}(e-?\d+)?", lambda match: f"{float(match[0]):.9g}", text)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_face_is_the_golden_one(document_of, kind: str, face: str, language: Language) -> None:
    text = rounded(FACES[face](document_of(kind), language))
    path = GOLDEN / (f"{kind}.json" if face == "json" else f"{kind}.{language}.{face}")
    if os.environ.get("HENGWEN_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")


def test_there_is_no_golden_file_of_a_kind_that_is_gone() -> None:
    assert {path.name.split(".")[0] for path in GOLDEN.iterdir()} == set(KINDS)


def tables_of(blocks, *, with_scores: bool = False) -> list[Table]:
    """Return the tables of blocks; those of scores too where a face shows them as plain tables."""
    tables: list[Table] = []
    for block in blocks:
        match block:
            case Table():
                tables.append(block)
            case Scores():
                tables += [plain_table(block)] if with_scores else []
            case Decision():
                scores = [block.scores] if block.scores else []
                tables += tables_of([*scores, *block.details], with_scores=with_scores)
            case Details():
                tables += tables_of(block.blocks, with_scores=with_scores)
    return tables


def cell_texts(tables: list[Table], language: Language) -> list[str]:
    return [
        one_spaced(in_language(cell.text, language)) for table in tables for row in table.rows for cell in row
    ]


def html_cells(page: str) -> list[str]:
    tables = re.findall(r'<div class="scroll".*?</table>', page, re.DOTALL)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", "".join(tables), re.DOTALL)
    cells = [re.sub("<svg.*?</svg>|</?a[^>]*>", "", cell, flags=re.DOTALL) for cell in cells]
    return [unescape(re.sub("^[▲▼–◇] (?=.)", "", cell)) for cell in cells]


def markdown_cells(page: str) -> list[str]:
    """Return the cells of the rows below the rules of tables; the table of answers has an empty head."""
    cells: list[str] = []
    for block in re.findall(
        r"^(\| (?!\|).*\n\| (?:---:?)(?: \| ---:?)* \|\n)((?:\|.*\n)*)", page, re.MULTILINE
    ):
        for line in block[1].splitlines():
            cells += re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |"))
    return [
        unescape(re.sub(r"\\(.)", r"\1", re.sub("^[▲▼–◇] (?=.)", "", cell)).replace("<br>", "\n"))
        for cell in cells
    ]


def with_hyphens(text: str) -> str:
    """Return a text with hyphens where a page has minus signs."""
    return text.replace("\N{MINUS SIGN}", "-")


def one_spaced(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.strip().split("\n"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_faces_show_the_same_numbers(document_of, kind: str, language: Language) -> None:
    document = document_of(kind)
    tables = tables_of(document.blocks, with_scores=True)
    cells = [cell for table in tables for row in table.rows for cell in row]
    texts = [with_hyphens(cell) for cell in cell_texts(tables, language)]
    assert texts, "a result without a table has no rows"
    terminal = with_hyphens(printed(document, language, 10_000, verbose=True))
    assert [text for text in texts if not all(line in terminal for line in text.split("\n"))] == []
    plain = [with_hyphens(cell) for cell in cell_texts(tables_of(document.blocks), language)]
    cells_of_page = html_cells(to_html(document, language))
    cells_of_markdown = markdown_cells(to_markdown(document, language))
    assert not [
        cell for cell in (*cells_of_page, *cells_of_markdown) if re.match(r"(.* )?[\[(]?-[.\d]", cell)
    ]
    assert [one_spaced(with_hyphens(cell)) for cell in cells_of_page] == plain
    assert [one_spaced(with_hyphens(cell)) for cell in cells_of_markdown] == texts
    rows = to_rows(document, language).rows
    values = [value for row in rows for value in row]
    wanted = [value for cell in cells for value in cell.values.values() if value is not None]
    assert [value for value in wanted if value not in values] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("kind", KINDS)
def test_the_terminal_keeps_its_width_and_25_lines(
    document_of, kind: str, width: int, language: Language
) -> None:
    short, long = (printed(document_of(kind), language, width, verbose=verbose) for verbose in (False, True))
    for text in (short, long):
        too_wide = [line for line in text.splitlines() if cell_len(line) > width and "hengwen " not in line]
        assert too_wide == []
    assert len(short.splitlines()) <= 25
    assert not re.search(r"\b([Bb]elow|[Aa]bove)[,:.]|[上下]文|以[上下]|见[上下]", short)


@pytest.mark.parametrize("kind", KINDS)
def test_the_names_of_tables_and_charts_are_unique(document_of, kind: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', to_html(document_of(kind), "en"))
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_is_in_one_language(document_of, kind: str) -> None:
    """What comes from outside may be Chinese; what the document says itself may not, in English."""
    document = document_of(kind)
    assert document.kind == kind
    heads = [
        in_language(column.head, "en") for table in tables_of(document.blocks) for column in table.columns
    ]
    assert not re.search("[\u4e00-\u9fff]", " ".join([in_language(document.title, "en"), *heads]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_record_follows_its_schema(document_of, kind: str) -> None:
    schema = json.loads(schema_text(kind))
    jsonschema.validate(json.loads(to_json(document_of(kind))), schema, jsonschema.Draft202012Validator)


@pytest.mark.slow
@each_row("kind", schema_kinds())
def test_a_schema_is_valid_and_says_which_fields_there_are(kind: str) -> None:
    schema = json.loads(schema_text(kind))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert [
        part
        for part in parts_of(schema)
        if part.get("type") == "object" and "additionalProperties" not in part
    ] == []
    assert schema["additionalProperties"] is False


def parts_of(schema: object) -> list[dict]:
    if isinstance(schema, list):
        return [part for item in schema for part in parts_of(item)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(part for item in schema.values() for part in parts_of(item))]

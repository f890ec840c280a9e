"""Every kind of document with a hostile text in the place of each of its texts: inert in every face."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from document_examples import KINDS
from inert import CONTROLS, HOSTILE, is_formula, markdown_structure, tags
from rich.console import Console

from hengwen.documents.blocks import Document
from hengwen.documents.render.markdown import to_markdown
from hengwen.documents.render.terminal import to_terminal
from hengwen.documents.render.words import to_csv, to_parquet
from hengwen.documents.render.write import to_html, to_json
from hengwen.text.language import Bilingual

pytestmark = pytest.mark.slow
NUMBER = re.compile(r"-\d+(\.\d+)?(e-?\d+)?")
NAMES = {"key", "kind", "tone", "align", "mark", "target", "link", "record", "status", "size"}
"""Fields with names of Hengwen itself."""
SHORT = [str(item.values[0]) for item in HOSTILE if len(str(item.values[0])) < 1000]
TEXT = "\n".join(["＝1", *SHORT])


def planted(value: Any, text: str) -> Any:
    """Return a block with the text in the place of each text that is not empty."""
    if isinstance(value, Bilingual):
        return Bilingual(text, text)
    if isinstance(value, str):
        return text if value else value
    if isinstance(value, dict):
        return {key: planted(item, text) for key, item in value.items()}
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(planted(item, text) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value,
            **{
                field.name: planted(getattr(value, field.name), text)
                for field in fields(value)
                if field.name not in NAMES
            },
        )
    return value


@pytest.fixture(params=KINDS)
def document(request: pytest.FixtureRequest, document_of) -> Document:
    return document_of(request.param)


def test_every_text_of_every_kind_is_inert_in_every_face(document: Document) -> None:
    hostile, plain = planted(document, TEXT), planted(document, "x" * len(TEXT))
    page, markdown, file = to_html(hostile, "zh"), to_markdown(hostile, "zh"), io.StringIO()
    assert tags(page) == tags(to_html(plain, "zh"))
    assert markdown_structure(markdown) == markdown_structure(to_markdown(plain, "zh"))
    cells = [cell for row in csv.reader(io.StringIO(to_csv(hostile, "zh"), newline="")) for cell in row]
    assert [cell for cell in cells if is_formula(cell) and not NUMBER.fullmatch(cell)] == []
    to_terminal(hostile, Console(file=file, width=40), "zh", verbose=True)
    assert not [face for face in (page, markdown, file.getvalue(), *cells) if CONTROLS.search(face)]
    to_parquet(hostile, "zh")
    to_json(hostile).encode()

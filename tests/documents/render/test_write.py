"""A document as a file: the suffix names the format, and the file is complete or absent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rows import each_row

from hengwen.documents.blocks import Cell, Column, Document, Table
from hengwen.documents.render.write import SUFFIXES, check_format, to_json, write_document
from hengwen.errors import ConfigError

DOCUMENT = Document(
    kind="k",
    title="标题",
    blocks=(Table(key="t", columns=(Column(key="a", head="a"),), rows=((Cell(text="1"),),)),),
    record={"a": (1, "\ud800")},
)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_is_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix.upper()}"
    write_document(DOCUMENT, path, "zh")
    assert path.stat().st_size > 3
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_json_is_the_record() -> None:
    assert json.loads(to_json(DOCUMENT)) == {"a": [1, "\ufffd"]}
    with pytest.raises(ValueError, match="JSON compliant"):
        to_json(Document(kind="k", title="t", blocks=(), record={"a": float("nan")}))


@each_row(
    ("name", "message"),
    [
        ("x.htm", r"unknown format '\.htm' of 'x\.htm'; did you mean '\.html'\?"),
        ("x.pdf", r"unknown format '\.pdf' of 'x\.pdf'; known: \.csv, \.html, \.json, \.md, \.parquet"),
        ("x", r"unknown format of 'x'; use one of \.html, \.md, \.json, \.csv, \.parquet"),
    ],
)
def test_an_unknown_suffix_is_refused_with_the_ones_there_are(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_format(Path(name))


def test_a_document_without_a_table_has_no_rows(tmp_path: Path) -> None:
    document = Document(kind="k", title="t", blocks=())
    with pytest.raises(ConfigError, match=r"x\.csv: this result has no table; write \.html, \.md or \.json"):
        write_document(document, tmp_path / "x.csv", "en")
    assert list(tmp_path.iterdir()) == []

"""Tables as rows: values under the names of their columns, and files that keep them."""

from __future__ import annotations

import sys

import pytest

from hengwen.documents.blocks import Cell, Column, Details, Document, Table
from hengwen.documents.render.words import to_csv, to_parquet, to_rows
from hengwen.errors import PluginError
from hengwen.text.language import Bilingual

MEANS = Table(
    key="means",
    columns=(Column(key="score", head="s"), Column(key="mean", head="m")),
    rows=(
        (Cell(text="a"), Cell(text="1.5 [1, 2]", values={"": 1.5, "low": 1, "high": 2.0})),
        (Cell(text="b"), Cell(text="–")),
    ),
)
WORDS = Table(
    key="words",
    columns=(Column(key="score", head="s"), Column(key="passes", head="p")),
    rows=((Cell(text=Bilingual("甲", "c")), Cell(text="yes", values={"": True})),),
)


def document(*blocks) -> Document:
    return Document(kind="k", title="t", blocks=blocks)


def test_one_table_is_its_rows() -> None:
    columns, rows = to_rows(document(MEANS), "en")
    assert columns == ["score", "mean", "mean_low", "mean_high"]
    assert rows == [["a", 1.5, 1, 2.0], ["b", None, None, None]]


def test_several_tables_have_their_name_in_the_first_column() -> None:
    columns, rows = to_rows(document(MEANS, Details(title="d", blocks=(WORDS,), is_open=False)), "en")
    assert columns == ["table", "score", "mean", "mean_low", "mean_high", "passes"]
    assert rows[-1] == ["words", "c", None, None, None, True]
    assert to_rows(document(WORDS), "zh").rows == [["甲", True]]


def test_a_table_without_rows_has_its_columns() -> None:
    empty = Table(key="e", columns=MEANS.columns, rows=())
    assert to_csv(document(empty), "en") == "score,mean\n"


def test_csv_keeps_numbers_as_they_are() -> None:
    assert to_csv(document(WORDS, MEANS), "en").splitlines() == [
        "table,score,passes,mean,mean_low,mean_high",
        "words,c,true,,,",
        "means,a,,1.5,1,2.0",
        "means,b,,,,",
    ]


def test_a_negative_number_is_no_formula() -> None:
    table = Table(
        key="t",
        columns=(Column(key="a", head="a"), Column(key="b", head="b")),
        rows=((Cell(text="−1", values={"": -1.5}), Cell(text="-1")),),
    )
    assert to_csv(document(table), "en") == "a,b\n-1.5,'-1\n"


def test_parquet_keeps_types_and_writes_a_mixture_as_text() -> None:
    from pyarrow import BufferReader, parquet

    mixed = Table(
        key="t",
        columns=(Column(key="a", head="a"), Column(key="b", head="b")),
        rows=(
            (Cell(text="1", values={"": 1}), Cell(text="1", values={"": 1})),
            (Cell(text="x"), Cell(text="2.5", values={"": 2.5})),
        ),
    )
    table = parquet.read_table(BufferReader(to_parquet(document(mixed), "en")))
    assert table.to_pydict() == {"a": ["1", "x"], "b": [1.0, 2.5]}


def test_parquet_without_its_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PluginError, match=r"pip install 'hengwen\[parquet\]'"):
        to_parquet(document(MEANS), "en")

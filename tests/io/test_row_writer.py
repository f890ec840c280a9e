"""What is written is read back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.io.output_files import row_writer
from hengwen.io.row_reader import read_rows

texts = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\t\n\r"), min_size=1
).filter(lambda text: not text.lstrip().startswith(tuple("=+-@＝＋－＠\ufeff")) and text[0] not in "\t\n\r")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
@settings(deadline=None, max_examples=60)
@given(rows=st.lists(st.fixed_dictionaries({"a": texts, "b": texts}), min_size=1, max_size=5))
def test_any_text_comes_back(tmp_path_factory, suffix: str, rows: list[dict[str, str]]) -> None:
    path: Path = tmp_path_factory.mktemp("rows") / f"x{suffix}"
    with row_writer(path, ["a", "b"]) as write:
        for row in rows:
            write(row)
    assert [dict(line.values) for line in read_rows(path)] == rows


def test_a_carriage_return_alone_is_quoted(tmp_path: Path) -> None:
    with row_writer(tmp_path / "x.csv", ["a"]) as write:
        write({"a": "one\rtwo"})
    assert (tmp_path / "x.csv").read_bytes() == b'a\n"one\rtwo"\n'


HOSTILE_CELLS = {
    "=1+1": "'=1+1",
    "＝cmd|' /C calc'!A0": "'＝cmd|' /C calc'!A0",
    " －1": "' －1",
    "\n@SUM(A1)": "'\n@SUM(A1)",
    "\x1b]0;title\x07": "\ufffd]0;title\ufffd",
    "a\x00b\x9b31m": "a\ufffdb\ufffd31m",
    "\x00=1": "\ufffd=1",
    "一\t二\r\n三": "一\t二\r\n三",
}


def test_no_cell_of_csv_is_a_formula_or_controls_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    with row_writer(path, ["a"]) as write:
        for text in HOSTILE_CELLS:
            write({"a": text})
    assert [row.values["a"] for row in read_rows(path)] == list(HOSTILE_CELLS.values())


def test_json_lines_keep_every_character_that_json_escapes(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with row_writer(path, ["a"]) as write:
        for text in HOSTILE_CELLS:
            write({"a": text})
    assert [row.values["a"] for row in read_rows(path)] == list(HOSTILE_CELLS)
    assert not set(path.read_text("utf-8")) & set("\x00\x1b\x07")

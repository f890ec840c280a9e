"""What is written is read back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hengwen.io.row_reader import read_rows
from hengwen.io.row_writer import row_writer

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: not text.startswith(("=", "+", "-", "@", "\t", "\r", "\ufeff"))
)


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

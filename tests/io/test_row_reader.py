"""Rows of files: streamed, renamed, and named by line where they are wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hengwen.errors import DataError
from hengwen.io.row_reader import DataRow, read_rows, scan_rows
from hengwen.runs.imported.record import import_scores


def write(folder: Path, text: str | bytes, name: str = "x.jsonl") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows(*values: object) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


@pytest.mark.skipif(os.name == "nt", reason="has no devices in folders")
@pytest.mark.parametrize("name", ["x.jsonl", "x.csv"])
def test_a_link_to_a_device_without_end_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.symlink_to("/dev/zero")
    for read in (lambda: list(read_rows(path)), lambda: import_scores(path, store=tmp_path / "x.db")):
        with pytest.raises(DataError, match=rf"{name}: is a device, which may have no end; name a file"):
            read()
    path.unlink()
    path.symlink_to("/dev/null")
    with pytest.raises(DataError, match="no rows"):
        list(read_rows(path))


def test_csv_cells_may_hold_line_breaks_and_lines_are_still_right(tmp_path: Path) -> None:
    text = 'id,template\na,"(verse)\ncR"\nb,"(verse)\ncc"\n'
    lines = list(read_rows(write(tmp_path, text, "x.csv"), {"template": "metadata.template"}))
    assert [line.number for line in lines] == [2, 4]
    assert lines[1].values == {"id": "b", "metadata": {"template": "(verse)\ncc"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,input\na,b,c\n", r"x.csv:2: 3 cells, but the header has 2"),
        ("id,id\na,b\n", r"x.csv:1: a column name repeats"),
        ('id\n"a\n', r"x.csv:2: not valid CSV"),
        ("id\n", r"x.csv: no rows"),
        (b"id,input\na,x\nb,\xff\n", r"x.csv:3: not UTF-8"),
    ],
    ids=["ragged", "header twice", "quote left open", "no rows", "not UTF-8"],
)
def test_wrong_csv_is_named_by_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(read_rows(write(tmp_path, text, "x.csv")))


def test_columns_that_are_not_there_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, rows({"id": "a", "lyric": "x"}))
    with pytest.raises(DataError, match=r"x.jsonl:1: columns: no column 'lyrics'; did you mean 'lyric'"):
        list(read_rows(path, {"lyrics": "output"}))


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a .jsonl or .csv file"):
        list(read_rows(write(tmp_path, "id\na\n", "x.txt")))
    with pytest.raises(DataError, match="no such file"):
        list(read_rows(tmp_path / "y.jsonl"))


@pytest.mark.parametrize(
    ("text", "name", "bad"),
    [
        (b'{"id": "a"}\nnonsense\n{"id": "\xff"}\n[1]\n{"id": "b"}\n', "x.jsonl", [2, 3, 4]),
        (b"id,text\na,1\nb\nc,2,3\nd,4\n", "x.csv", [3, 4]),
    ],
    ids=["jsonl", "csv"],
)
def test_a_scan_goes_on_after_malformed_rows(tmp_path: Path, text: bytes, name: str, bad: list[int]) -> None:
    scanned = list(scan_rows(write(tmp_path, text, name)))
    lines = [row.number for row in scanned if isinstance(row, DataRow)]
    errors = [str(row) for row in scanned if isinstance(row, DataError)]
    assert lines == [1, 5] if name == "x.jsonl" else [2, 5]
    assert [int(error.split(":")[1]) for error in errors] == bad


def test_a_cell_may_be_longer_than_the_default_limit_of_the_csv_module(tmp_path: Path) -> None:
    (line,) = read_rows(write(tmp_path, "id,text\na," + "长" * 200_000 + "\n", "x.csv"))
    assert len(line.values["text"]) == 200_000

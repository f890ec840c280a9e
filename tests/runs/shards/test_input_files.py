"""Which files the paths and patterns of a command name."""

from __future__ import annotations

from pathlib import Path

import pytest

from hengwen.errors import ConfigError, DataError
from hengwen.runs.shards.split import find_inputs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.jsonl", "a.jsonl", "c.parquet", "notes.txt", "in/d.ndjson"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("names", "files"),
    [
        (["b.jsonl", "a.jsonl"], ["b.jsonl", "a.jsonl"]),
        (["*.jsonl"], ["a.jsonl", "b.jsonl"]),
        (["c.parquet", "?.jsonl"], ["c.parquet", "a.jsonl", "b.jsonl"]),
        (["**/*.ndjson"], ["in/d.ndjson"]),
    ],
)
def test_names_keep_their_order_and_patterns_are_sorted(
    folder: Path, names: list[str], files: list[str]
) -> None:
    assert find_inputs([folder / name for name in names]) == [folder / name for name in files]


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["z.jsonl"], DataError, r"z\.jsonl: no such file"),
        (["z*.jsonl"], DataError, r"z\*\.jsonl: no file matches this pattern"),
        (["in"], DataError, r"in: is a folder; name its files by a pattern, such as '.*in/\*\.jsonl'"),
        (["notes.txt"], DataError, r"needs inputs that end in \.jsonl, \.ndjson, \.parquet"),
        (["a.jsonl", "?.jsonl"], ConfigError, r"a\.jsonl: is the same file as the input .*a\.jsonl"),
        (["a.jsonl", "in/../a.jsonl"], ConfigError, r"is the same file as the input"),
    ],
)
def test_a_wrong_name_is_refused(folder: Path, names: list[str], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        find_inputs([folder / name for name in names])


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "[a].jsonl").write_text("{}\n")
    assert find_inputs([tmp_path / "[a].jsonl"]) == [tmp_path / "[a].jsonl"]

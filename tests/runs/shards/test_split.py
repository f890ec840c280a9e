"""Files are split at the same bytes and rows each time, and the shards together have each row once."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest

from hengwen.errors import DataError
from hengwen.io.row_reader import DataRow
from hengwen.runs.shards import split
from hengwen.runs.shards.split import read_shard, split_file


def rows_of(path: Path, shard_rows: int) -> list[list[tuple[int, object]]]:
    _, shards = split_file(path, shard_rows, number=0, index=0)
    return [
        [(row.number, row.values["n"]) for row in read_shard(shard, path) if isinstance(row, DataRow)]
        for shard in shards
    ]


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("shard_rows", [1, 3, 10, 11, 100])
@pytest.mark.parametrize("ending", ["\n", ""])
def test_the_shards_have_each_line_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, shard_rows: int, ending: str
) -> None:
    monkeypatch.setattr(split, "BLOCK_BYTES", block)
    path = tmp_path / "a.jsonl"
    lines = [f'{{"n": {n}, "text": "{"词" * (n % 4)}"}}' for n in range(1, 11)]
    path.write_text("\n".join(lines) + ending, "utf-8")
    shards = rows_of(path, shard_rows)
    assert [row for rows in shards for row in rows] == [(n, n) for n in range(1, 11)]
    assert [len(rows) for rows in shards[:-1]] == [shard_rows] * (len(shards) - 1)
    assert 0 < len(shards[-1]) <= shard_rows


def test_blank_lines_count_as_lines_and_a_broken_line_keeps_its_number(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"n": 1}\n\n\nnonsense\n{"n": 5}\n')
    _, shards = split_file(path, 2, number=3, index=7)
    assert [(shard.number, shard.input, shard.skipped, shard.rows) for shard in shards] == [
        (7, 3, 0, 2),
        (8, 3, 2, 2),
        (9, 3, 4, 1),
    ]
    (error,) = read_shard(shards[1], path)
    assert isinstance(error, DataError)
    assert str(error).startswith(f"{path}:4: not valid JSON")
    assert [shard.output for shard in shards] == [f"shard-00000{n}.jsonl" for n in (7, 8, 9)]


def test_an_input_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"n": 1}\n{"n": 2}')
    measured, _ = split_file(path, 10, number=0, index=0)
    assert (measured.path, measured.bytes, measured.rows) == (str(path), 17, 2)
    assert measured.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert measured.looks_unchanged()
    path.write_text('{"n": 1}\n{"n": 2}\n')
    assert not measured.looks_unchanged()
    path.unlink()
    assert not measured.looks_unchanged()


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("")
    with pytest.raises(DataError, match=r"a\.jsonl: no rows"):
        split_file(tmp_path / "a.jsonl", 10, number=0, index=0)


def test_a_random_file_is_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(1)
    monkeypatch.setattr(split, "BLOCK_BYTES", 256)
    path = tmp_path / "a.jsonl"
    numbers = range(1, 400)
    path.write_text("".join(f'{{"n": {n}, "t": "{"x" * source.randrange(90)}"}}\n' for n in numbers))
    for shard_rows in (1, 2, 13, 128, 399):
        assert [row for rows in rows_of(path, shard_rows) for row in rows] == [(n, n) for n in numbers]


def test_parquet_is_split_by_rows(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": list(range(1, 11))}), path, row_group_size=3)
    assert rows_of(path, 4) == [[(n, n) for n in part] for part in (range(1, 5), range(5, 9), range(9, 11))]
    pq.write_table(pa.table({"n": pa.array([], pa.int64())}), path)
    with pytest.raises(DataError, match=r"a\.parquet: no rows"):
        split_file(path, 4, number=0, index=0)

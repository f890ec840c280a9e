"""Rows of Parquet files: any range, with values that JSON can express."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hengwen.errors import DataError, PluginError
from hengwen.io.parquet_reader import scan_parquet

pa = pytest.importorskip("pyarrow")


def write(path: Path, columns: dict[str, Any], group_rows: int = 4) -> Path:
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path, row_group_size=group_rows)
    return path


def test_rows_are_read_with_their_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", {"n": list(range(250))}, group_rows=120)
    rows = list(scan_parquet(path))
    assert [(row.path, row.number, row.values["n"]) for row in rows] == [(path, n + 1, n) for n in range(250)]


def test_values_become_what_json_can_express(tmp_path: Path) -> None:
    columns = {
        "text": ["词", None],
        "tags": [["a"], []],
        "data": [{"k": 1}, {"k": None}],
        "number": [1.5, float("nan")],
        "limit": [float("inf"), 0.0],
        "values": [[[0.5, float("nan")], None], None],
        "point": [{"x": float("-inf"), "y": {"z": 2.0}}, None],
        "level": pa.array([float("nan"), 1.0]).dictionary_encode(),
        "small": pa.array([0.5, None], pa.float32()),
        "day": [date(2026, 1, 2), None],
        "time": pa.array([datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), None], pa.timestamp("ns", "UTC")),
        "price": [Decimal("1.20"), None],
        "model": pa.array(["m", "m"]).dictionary_encode(),
        "sure": [True, False],
    }
    path = write(tmp_path / "a.parquet", columns)
    first, second = (row.values for row in scan_parquet(path))
    assert json.loads(json.dumps([first, second], allow_nan=False)) == [first, second]
    assert (first["text"], first["tags"], first["data"], first["number"]) == ("词", ["a"], {"k": 1}, 1.5)
    assert (first["day"], first["price"], first["model"], first["sure"]) == ("2026-01-02", "1.20", "m", True)
    assert first["time"].startswith("2026-01-02")
    assert (first["limit"], first["values"], first["level"]) == (None, [[0.5, None], None], None)
    assert first["point"] == {"x": None, "y": {"z": 2.0}}
    assert (second["number"], second["small"], second["day"], second["tags"]) == (None, None, None, [])


def test_a_column_that_json_cannot_express_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        list(scan_parquet(write(tmp_path / "a.parquet", {"audio": [b"x"]})))


def test_a_repeated_column_is_refused(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["n", "n"]), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="a column name repeats: n"):
        list(scan_parquet(tmp_path / "a.parquet"))


def test_a_file_that_is_not_parquet_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("{}\n")
    with pytest.raises(DataError, match=r"a\.parquet: cannot be read as Parquet: "):
        list(scan_parquet(tmp_path / "a.parquet"))
    with pytest.raises(DataError, match=r"b\.parquet: no such file"):
        list(scan_parquet(tmp_path / "b.parquet"))


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.parquet", {"n": [1]})
    monkeypatch.setattr("hengwen.io.parquet_reader.find_spec", lambda name: None)
    with pytest.raises(PluginError, match=r"Parquet files need pyarrow: pip install 'hengwen\[parquet\]'"):
        list(scan_parquet(path))


def test_a_row_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a.parquet:2: the row has more than 16 MiB"):
        list(scan_parquet(write(tmp_path / "a.parquet", {"t": ["a", "x" * (17 << 20)]})))

"""Rows of Parquet files: any range, with values that JSON can express."""

from __future__ import annotations

import builtins
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hengwen.errors import DataError, PluginError
from hengwen.io.parquet_reader import count_parquet_rows, scan_parquet

pa = pytest.importorskip("pyarrow")


def write(path: Path, columns: dict[str, Any], group_rows: int = 4) -> Path:
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path, row_group_size=group_rows)
    return path


@pytest.mark.parametrize(
    ("start", "stop"), [(0, None), (0, 3), (3, 9), (4, 8), (5, 6), (8, 10), (9, 100), (10, 12)]
)
def test_any_range_of_rows_is_read_with_its_numbers(tmp_path: Path, start: int, stop: int | None) -> None:
    path = write(tmp_path / "a.parquet", {"n": list(range(10))})
    rows = list(scan_parquet(path, start, stop))
    expected = list(range(10))[start:stop]
    assert [row.values["n"] for row in rows] == expected
    assert [row.number for row in rows] == [n + 1 for n in expected]
    assert {row.path for row in rows} <= {path}


def test_a_batch_ends_inside_a_row_group(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", {"n": list(range(1800))}, group_rows=1200)
    assert count_parquet_rows(path) == 1800
    assert [row.values["n"] for row in scan_parquet(path, 499, 1301)] == list(range(499, 1301))


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
    assert count_parquet_rows(path) == 2
    first, second = (row.values for row in scan_parquet(path))
    assert json.loads(json.dumps([first, second], allow_nan=False)) == [first, second]
    assert (first["text"], first["tags"], first["data"], first["number"]) == ("词", ["a"], {"k": 1}, 1.5)
    assert (first["day"], first["price"], first["model"], first["sure"]) == ("2026-01-02", "1.20", "m", True)
    assert first["time"].startswith("2026-01-02 03:04:05")
    assert (first["limit"], first["values"], first["level"]) == (None, [[0.5, None], None], None)
    assert first["point"] == {"x": None, "y": {"z": 2.0}}
    assert (second["number"], second["small"], second["day"], second["tags"]) == (None, None, None, [])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"audio": [b"x"]}, "column 'audio' has the type binary, which JSON cannot express"),
        ({"days": [[date(2026, 1, 2)]]}, "column 'days' has the type list"),
    ],
)
def test_a_column_that_json_cannot_express_is_refused(
    tmp_path: Path, columns: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        count_parquet_rows(write(tmp_path / "a.parquet", columns))


def test_a_repeated_column_is_refused(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["n", "n"]), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="a column name repeats: n"):
        count_parquet_rows(tmp_path / "a.parquet")


def test_a_file_that_is_not_parquet_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("{}\n")
    with pytest.raises(DataError, match=r"a\.parquet: cannot be read as Parquet: "):
        count_parquet_rows(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"b\.parquet: no such file"):
        list(scan_parquet(tmp_path / "b.parquet"))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import_module = builtins.__import__

    def without_pyarrow(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return import_module(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    with pytest.raises(PluginError, match=r"Parquet files need pyarrow: pip install 'hengwen\[parquet\]'"):
        count_parquet_rows(Path("a.parquet"))


@pytest.mark.slow
def test_a_text_that_a_dictionary_repeats_is_held_once(tmp_path: Path) -> None:
    text = "x" * 1_000_000
    path = write(tmp_path / "a.parquet", {"output": [text] * 200}, group_rows=200)
    rows = list(scan_parquet(path))
    assert len({id(row.values["output"]) for row in rows}) == 1
    assert rows[0].values == {"output": text}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "column"),
    [
        ({"output": [str(number) + "x" * (5 << 20) for number in range(8)]}, "output"),
        ({"a": ["a", "b"], "tags": [[0] * 1_000_001, []]}, "tags.list.element"),
    ],
    ids=["texts", "lists"],
)
def test_pages_that_would_take_all_memory_are_refused_before_they_are_read(
    tmp_path: Path, columns: dict[str, Any], column: str
) -> None:
    path = write(tmp_path / "a.parquet", columns, group_rows=8)
    with pytest.raises(DataError, match=f"{path}: column '{column}': the pages of all columns"):
        next(scan_parquet(path))


@pytest.mark.slow
def test_texts_of_many_pages_are_read_a_few_at_a_time(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    texts = [str(number) + "x" * (5 << 20) for number in range(8)]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"output": texts}), path, write_batch_size=1, use_dictionary=False)
    assert [row.values["output"] for row in scan_parquet(path)] == texts
    assert [row.values["output"] for row in scan_parquet(path, 3, 5)] == texts[3:5]


def test_a_file_of_thousands_of_columns_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", {f"c{number}": [1] for number in range(2_001)})
    with pytest.raises(DataError, match="2,001 columns; at most 2,000 are read"):
        count_parquet_rows(path)

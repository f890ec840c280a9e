"""Values of a row that no store can hold are refused or replaced before any call is paid for."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import each_row

from hengwen.errors import DataError
from hengwen.io import row_reader
from hengwen.io.row_reader import DataRow, read_rows, scan_rows
from hengwen.plans.datasets import read_responses, read_samples


def test_a_lone_surrogate_of_a_field_is_replaced() -> None:
    row = DataRow(Path("x.jsonl"), 1, {"cluster": "a\ud800"})
    assert row.text("cluster") == "a\ufffd"


@each_row("repeat", [1_000_001, 10**400])
def test_a_repeat_is_at_most_a_million(repeat: int) -> None:
    row = DataRow(Path("x.jsonl"), 1, {"repeat": repeat})
    with pytest.raises(
        DataError, match=r"^x.jsonl:1: field 'repeat' is at most 1000000, got 10{0,57}"
    ) as error:
        row.positive_int("repeat")
    assert len(str(error.value)) < 120
    assert DataRow(Path("x.jsonl"), 1, {"repeat": 1_000_000}).positive_int("repeat") == 1_000_000


@pytest.mark.parametrize("task", ['["t"]', '{"t": 1}', "true"])
def test_a_task_that_is_no_text_is_refused(tmp_path: Path, task: str) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "a"}\n', "utf-8")
    (tmp_path / "a.jsonl").write_text(f'{{"id": "a", "task": {task}, "output": "o"}}\n', "utf-8")
    samples = read_samples(tmp_path / "s.jsonl", task="t")
    with pytest.raises(DataError, match=r"a.jsonl:1: field 'task' must be text"):
        read_responses(tmp_path / "a.jsonl", [samples], checkpoint="c")


def test_an_id_with_a_lone_surrogate_can_be_stored(hengwen, plan: Path) -> None:
    for name in ("prompts.jsonl", "a.jsonl", "b.jsonl"):
        path = plan.with_name(name)
        text = path.read_text("utf-8").replace('"id": "y"', '"id": "\\ud800", "cluster": "\\ud801"')
        path.write_text(text, "utf-8")
    assert hengwen("run", "plan.yaml", "-q").code == 0


def test_an_integer_of_thousands_of_digits_is_an_error_of_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"id": {"9" * 6_000}}}\n{{"id": "b"}}\n', "utf-8")
    error, row = scan_rows(path)
    assert str(error) == f"{path}:1: an integer has too many digits"
    assert isinstance(row, DataRow)


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_line_that_is_too_long_is_not_held_in_memory(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_reader, "MAX_LINE", 100)
    path = tmp_path / f"a.{suffix}"
    lines = ['{"id": "a"}', f'{{"id": "{"b" * 1_000}"}}', '{"id": "c"}']
    path.write_text("\n".join(lines if suffix == "jsonl" else ["id", "b" * 1_000]), "utf-8")
    if suffix == "csv":
        with pytest.raises(DataError, match="a.csv:2: longer than 0 MiB for a row"):
            list(scan_rows(path))
        return
    first, error, last = scan_rows(path)
    assert (first.values["id"], last.values["id"]) == ("a", "c")
    assert f"{path}:2: longer than 0 MiB" in str(error)


def test_a_row_of_csv_with_many_lines_is_not_held_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_reader, "MAX_LINE", 100)
    path = tmp_path / "a.csv"
    path.write_text('id\na\n"' + "b\n" * 1_000, "utf-8")
    rows = scan_rows(path)
    assert next(rows).values["id"] == "a"
    with pytest.raises(DataError, match="a.csv:3: longer than 0 MiB for a row"):
        next(rows)


HUGE = {
    "lists": ("a.jsonl", '{"a": [' + "[]," * 500_000 + "[]]}", "a.jsonl:1: more than 500,000 lists and"),
    "values": ("a.jsonl", '{"a": [' + "1," * 2_000_001 + "1]}", "a.jsonl:1: more than 2,000,000 values"),
    "nested": ("a.jsonl", '{"a": ' + "[" * 100_000, "a.jsonl:1: nested too deeply"),
    "cells": ("a.csv", "," * 500_001, "a.csv:1: more than 500,000 cells"),
}


@each_row("name, text, message", HUGE.values(), ids=HUGE)
def test_a_row_whose_values_would_take_all_memory_is_refused(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=message):
        list(read_rows(path))


@pytest.mark.parametrize("value", ["[" * 5_000, "9" * 5_000], ids=["nested", "digits"])
def test_metadata_of_a_csv_cell_that_cannot_be_read_is_an_error_of_its_line(
    tmp_path: Path, value: str
) -> None:
    (tmp_path / "s.csv").write_text(f'id,metadata\na,"{value}"\n', "utf-8")
    with pytest.raises(DataError, match=r"s.csv:2: field 'metadata' must be a JSON object"):
        read_samples(tmp_path / "s.csv", task="t")

"""Values of a row that no store can hold are refused or replaced before any call is paid for."""

from __future__ import annotations

from pathlib import Path

import pytest

from hengwen.errors import DataError
from hengwen.io.row_reader import DataRow
from hengwen.plans.datasets import read_responses, read_samples


def test_a_lone_surrogate_of_a_field_is_replaced() -> None:
    row = DataRow(Path("x.jsonl"), 1, {"cluster": "a\ud800"})
    assert row.text("cluster") == "a\ufffd"


@pytest.mark.parametrize("repeat", [1_000_001, 10**400])
def test_a_repeat_is_at_most_a_million(repeat: int) -> None:
    row = DataRow(Path("x.jsonl"), 1, {"repeat": repeat})
    with pytest.raises(
        DataError, match=r"^x.jsonl:1: field 'repeat' is at most 1000000, got 10{0,57}"
    ) as error:
        row.positive_int("repeat", 1)
    assert len(str(error.value)) < 120
    assert DataRow(Path("x.jsonl"), 1, {"repeat": 1_000_000}).positive_int("repeat", 1) == 1_000_000


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

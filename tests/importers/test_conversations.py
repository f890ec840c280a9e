"""Prompts with their answers from the usual kinds of rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hengwen.errors import DataError
from hengwen.importers.conversations import read_exchanges


def write(folder: Path, *rows: object) -> Path:
    path = folder / "test.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


SHAREGPT = [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]
MESSAGES = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
LONGER = [*SHAREGPT, {"from": "human", "value": "c"}]
BEFORE = [*MESSAGES, {"role": "user", "content": "c"}]
SYSTEM = {"from": "system", "value": "s"}
ROWS: dict[str, tuple[dict, object, str, str]] = {
    "sharegpt": ({"conversations": SHAREGPT}, "a", "b", ""),
    "sharegpt with a system column": ({"conversations": SHAREGPT, "system": "s"}, "a", "b", "s"),
    "sharegpt with a system turn": ({"conversations": [SYSTEM, *SHAREGPT]}, "a", "b", "s"),
    "messages": ({"messages": MESSAGES}, "a", "b", ""),
    "alpaca": ({"instruction": "a", "input": "", "output": "b"}, "a", "b", ""),
    "alpaca with an input": ({"instruction": "a", "input": "x", "output": "b"}, "a\nx", "b", ""),
    "alpaca with a history": ({"instruction": "c", "output": "d", "history": [["a", "b"]]}, BEFORE, "d", ""),
    "prompt and label": ({"prompt": "a", "label": "b"}, "a", "b", ""),
    "question and answer": ({"question": "a", "answer": "b", "system": "s"}, "a", "b", "s"),
    "several turns": ({"conversations": [*LONGER, {"from": "gpt", "value": "d"}]}, BEFORE, "d", ""),
    "a last turn without an answer": ({"conversations": LONGER}, "a", "b", ""),
}


@pytest.mark.parametrize("case", ROWS)
def test_a_row_gives_its_last_answer_with_what_went_before(tmp_path: Path, case: str) -> None:
    row, asked, label, system = ROWS[case]
    (exchange,) = read_exchanges(write(tmp_path, row))
    assert (exchange.input, exchange.label, exchange.system, exchange.line) == (asked, label, system, 1)


def test_a_json_list_and_a_csv_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        json.dumps([{"prompt": "a", "label": "b"}, {"prompt": "c", "label": "d"}]), "utf-8"
    )
    (tmp_path / "a.csv").write_text("prompt,label\na,b\nc,d\n", "utf-8")
    for name in ("a.json", "a.csv"):
        assert [(exchange.prompt, exchange.label) for exchange in read_exchanges(tmp_path / name)] == [
            ("a", "b"),
            ("c", "d"),
        ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"prompt": "a"}, "no prompt with an answer in this row"),
        ({"label": "b"}, "no prompt with an answer in this row"),
        ({"prompt": " ", "label": "b"}, "no prompt with an answer in this row"),
        ({"conversations": []}, "no prompt with an answer in this row"),
        ({"conversations": [{"from": "gpt", "value": "b"}]}, "no prompt with an answer in this row"),
        ({"conversations": [{"from": "cat", "value": "b"}]}, "unknown speaker 'cat'"),
        ({"conversations": ["a"]}, "a turn of 'conversations' needs 'from' and 'value' as text"),
        ({"prompt": "a", "label": "b", "history": [["a"]]}, "field 'history' must be a list of"),
    ],
)
def test_a_row_that_gives_nothing_is_told_by_line(tmp_path: Path, row: dict, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read_exchanges(write(tmp_path, {"prompt": "a", "label": "b"}, row))
    assert f"test.jsonl:2: {message}" in str(caught.value)


@pytest.mark.parametrize("text", ["{}", "[]", "[1]", "[{]", ""])
def test_a_json_file_that_is_no_list_of_rows_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"a\.json"):
        read_exchanges(path)

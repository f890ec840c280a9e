"""Evidence that an answer stands in the training set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rows import each_row

from hengwen.errors import DataError
from hengwen.objective import TrainingSet
from hengwen.objective.duplicates.training_set import read_answers

TURNS = ["晚上好呀，今天的月亮很圆呢", "我想吃鱼", "沐雪最喜欢和大家一起聊天啦，每天都很开心"]


@each_row(
    ("answer", "kind", "of", "containment"),
    [
        ("我想吃鱼。", "exact", 1, 1),
        ("我想吃鱼呀！", "particle_only", 1, 1),
        ("晚上好，今天的月亮很圆", "particle_only", 0, 1),
        ("晚上好，今天的月亮很大", "near", 0, 5 / 6),
        ("大家一起聊天啦，每天都不开心", "none", 2, 6 / 9),
        ("我不想吃鱼", "none", None, 0),
        ("鱼", "none", None, 0),
    ],
)
def test_the_kinds_of_evidence(answer: str, kind: str, of: int | None, containment: float) -> None:
    match = TrainingSet(TURNS).find(answer)
    assert (match.kind, match.of, match.containment) == (kind, of, pytest.approx(containment))


def test_nothing_can_be_said_of_nothing() -> None:
    with pytest.raises(ValueError, match="no letter or digit: leakage is not assessed"):
        TrainingSet(TURNS).find("！！")
    with pytest.raises(ValueError, match="the training set has no turn with a letter"):
        TrainingSet(["…", ""])
    with pytest.raises(ValueError, match="near must be above 0 and at most 1"):
        TrainingSet(TURNS, near=0)


ROWS = [
    {
        "conversations": [{"from": "human", "value": "你好"}, {"from": "gpt", "value": TURNS[0]}],
        "system": "s",
    },
    {"messages": [{"role": "user", "content": "饿吗"}, {"role": "assistant", "content": TURNS[1]}]},
    {"instruction": "聊聊", "output": TURNS[2]},
]


@pytest.mark.parametrize("shape", ["lines", "list", "txt"])
def test_training_files_of_the_usual_shapes_are_read(tmp_path: Path, shape: str) -> None:
    path = tmp_path / ("train.txt" if shape == "txt" else "train.jsonl")
    lines = [json.dumps(row, ensure_ascii=False) for row in ROWS]
    text = {"lines": "\n".join(lines), "list": f"[{','.join(lines)}]", "txt": "\n".join(TURNS)}[shape]
    path.write_text(text, encoding="utf-8")
    answers, digest = read_answers([str(path)])
    assert answers == TURNS
    assert len(digest) == 12


def test_a_row_without_an_answer_is_named(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text('{"output": "a"}\n{"text": "b"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"train.jsonl:2: no answer in this row; known: conversations"):
        read_answers([str(path)])
    path.write_text('{"output": \n', encoding="utf-8")
    with pytest.raises(DataError, match=r"train.jsonl:1: not valid JSON"):
        read_answers([str(path)])
    with pytest.raises(DataError, match="cannot be read"):
        read_answers([str(tmp_path / "absent.jsonl")])

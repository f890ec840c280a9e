"""A plan of two tasks whose answers are labelled, and what was labelled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hengwen.plans.datasets import read_labels
from hengwen.records import Label

PLAN = """\
name: p
tasks:
  - name: live
    samples: live.jsonl
    prompt: {system: "你是{{ name }}。"}
    repeats: 2
    judges: [{rubric: muice_live}]
  - name: topic
    samples: topic.jsonl
    judges: [{rubric: muice_new_topic}]
checkpoints:
  - {name: day-1, responses: day-1.jsonl}
  - {name: day-2, responses: day-2.jsonl}
"""
HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold]红[/bold]\u202e反\u202c\x00看 1\r\n第二行"
LIVE = [
    {"id": "a", "input": "今天好吗？", "references": ["很好呀"], "metadata": {"name": "阿月"}},
    {"id": "b", "input": "\x1b[31m晚安", "metadata": {"name": "阿月"}},
]
TOPIC = [{"id": "t", "input": "<话题: 早安>"}]
ANSWERS: dict[str, list[dict[str, Any]]] = {
    "day-1": [
        {"task": "live", "id": "a", "repeat": 1, "output": "好呢一"},
        {"task": "live", "id": "a", "repeat": 2, "output": "好呢二"},
        {"task": "live", "id": "b", "repeat": 1, "output": HOSTILE},
        {"task": "topic", "id": "t", "repeat": 1, "output": ""},
    ],
    "day-2": [
        {"task": "live", "id": "a", "repeat": 1, "output": "=cmd()"},
        {"task": "live", "id": "b", "repeat": 1, "output": '晚安,"好"梦\n明天见'},
        {"task": "topic", "id": "t", "repeat": 1, "output": "早呀"},
    ],
}


def jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def labels(path: Path) -> list[Label]:
    return [label for _, label in read_labels(path)]


def with_labels(folder: Path) -> None:
    (folder / "plan.yaml").write_text(PLAN + "labels: labels.csv\n", "utf-8")

"""Whatever a file says, an import records it or ends with an error that is one line."""

from __future__ import annotations

import copy
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hengwen import import_scores, open_store
from hengwen.errors import HengwenError

pytestmark = pytest.mark.slow
MUTATIONS = 300
ODD: list[Any] = [
    *(
        None,
        True,
        -1,
        0,
        10**20,
        -1e300,
        float("nan"),
        float("inf"),
        "",
        "text",
        "\ud800",
        "\x00\n\r",
        "9" * 20,
    ),
    *([], {}, [[]], [None], {"": None}, {"a": {"b": [1]}}, "x" * 300, ["\udfff"], 1e19, "1e999", [[[[1]]]]),
]
INSPECT_HEADER = {"eval": {"model": "m", "task": "t", "scorers": [{"name": "match"}]}}
INSPECT = {
    "id": "q1",
    "epoch": 1,
    "input": [{"role": "user", "content": [{"type": "text", "text": "Why?"}]}],
    "output": {"completion": "attachment://9f", "choices": [{"message": {"content": "So."}}]},
    "attachments": {"9f": "Because."},
    "scores": {"match": {"value": "C", "explanation": "equal"}, "parts": {"value": {"tone": 3}}},
    "error": {"message": "no"},
}
LM_EVAL = {
    "doc_id": 3,
    "arguments": {"gen_args_0": {"arg_0": "2+2="}},
    "resps": [["4."]],
    "filtered_resps": ["4"],
    "filter": "strict",
    "metrics": ["acc"],
    "acc": 0.5,
}
COMPONENT = {"score": 1, "reason": "r", "assertion": {"type": "is"}, "metadata": {"graderError": False}}
PROMPTFOO = {
    "testIdx": 0,
    "provider": {"id": "p", "label": "m"},
    "prompt": {"raw": "Say"},
    "response": {"output": "bye"},
    "failureReason": 0,
    "error": None,
    "gradingResult": {"score": 0.5, "reason": "r", "componentResults": [COMPONENT]},
}
EVALSCOPE = {
    "index": 0,
    "messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}],
    "sample_score": {"sample_id": 1, "group_id": 2, "score": {"value": {"acc": 1.0}, "prediction": "A"}},
}
TABLE = {
    "model": "a",
    "id": 1,
    "score": 3,
    "step": 100,
    "repeat": 1,
    "rater": "",
    "judge": "j",
    "task": "t",
    "prompt": "p",
    "answer": "a",
    "reason": "r",
    "failure": "",
    "cluster": "c",
    "name": "n",
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [path, *(place for key, item in items for place in places(item, (*path, key)))]
    return [path]


def mutated(item: dict[str, Any], rng: random.Random) -> Any:
    """Return a copy in which one or two values or keys are odd or missing."""
    result = copy.deepcopy(item)
    for _ in range(rng.randint(1, 2)):
        place = rng.choice(places(result))
        if not place:
            if rng.random() < 0.05:
                return copy.deepcopy(rng.choice(ODD))
            continue
        parent = result
        for key in place[:-1]:
            parent = parent[key]
        if isinstance(parent, dict) and rng.random() < 0.2:
            del parent[place[-1]]
        elif isinstance(parent, dict) and rng.random() < 0.1:
            parent[rng.choice(["\ud800", "", "x" * 300])] = parent.pop(place[-1])
        else:
            parent[place[-1]] = copy.deepcopy(rng.choice(ODD))
    return result


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with some changed, or cut."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed[: rng.randrange(len(changed))] if rng.random() < 0.2 else changed)


def inspect_file(path: Path, header: Any, sample: Any) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("samples/q1_epoch_1.json", json.dumps(sample))
    return path


def write(folder: Path, kind: str, rng: random.Random) -> Path:
    """Write a file of a kind with one odd item."""
    if kind == "inspect":
        header = mutated(INSPECT_HEADER, rng) if rng.random() < 0.3 else INSPECT_HEADER
        return inspect_file(folder / "a.eval", header, mutated(INSPECT, rng))
    if kind == "promptfoo":
        file = folder / "p.json"
        file.write_text(json.dumps({"results": {"results": [PROMPTFOO, mutated(PROMPTFOO, rng)]}}), "utf-8")
        return file
    item = {"lm_eval": LM_EVAL, "evalscope": EVALSCOPE, "table": TABLE}[kind]
    file = folder / "samples_t_1.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in (item, mutated(item, rng))), "utf-8")
    return file


@pytest.mark.parametrize("kind", ["inspect", "lm_eval", "promptfoo", "evalscope", "table"])
def test_an_odd_item_is_recorded_or_one_line_says_what_is_wrong(kind: str, tmp_path: Path) -> None:
    rng = random.Random(kind)
    refused = []
    for number in range(MUTATIONS):
        file = write(tmp_path, kind, rng)
        if number % 3 == 0:
            file.write_bytes(damaged(file.read_bytes(), rng))
        try:
            with open_store("sqlite://") as store:
                result = import_scores(file, store)
                list(store.rows(result.runs))
        except HengwenError as error:
            refused.append(str(error))
    assert MUTATIONS / 20 < len(refused) < MUTATIONS * 19 / 20
    assert [line for line in refused if tmp_path.name not in line or "\n" in line] == []

"""Data files: what is read, and what a wrong row is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hengwen.errors import DataError
from hengwen.plans.datasets import read_labels, read_responses, read_samples


def write(folder: Path, text: str | bytes, name: str = "x.jsonl") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows(*values: object) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def test_a_sample_is_read_with_all_its_fields(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        rows(
            {
                "id": 7,
                "input": [{"role": "user", "content": "你好"}],
                "references": ["早", "晚"],
                "metadata": {"template": "(verse)\ncR"},
                "cluster": "song",
                "mood": "暖",
            },
            {"id": "b", "input": "喂", "references": "在"},
        ),
    )
    samples = read_samples(path, task="t").samples
    assert samples["7"].input == (("user", "你好"),)
    assert samples["7"].references == ("早", "晚")
    assert samples["7"].metadata == {"mood": "暖", "template": "(verse)\ncR"}
    assert samples["7"].cluster == "song"
    assert (samples["b"].references, samples["b"].task) == (("在",), "t")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (rows({"input": "x"}), r"x.jsonl:1: field 'id' is missing"),
        (
            rows({"id": "a"}, {"id": "b"}, {"id": "a"}),
            r"x.jsonl:3: field 'id' repeats 'a', first seen on line 1",
        ),
        (rows({"id": ["a"]}), r"x.jsonl:1: field 'id' must be text, got list"),
        ('{"id": "a"}\n\n{"id": \n', r"x.jsonl:3: not valid JSON"),
        ("[1]\n", r"x.jsonl:1: expected an object, got list"),
        ("", r"x.jsonl: no rows"),
        ("\n \n", r"x.jsonl: no rows"),
        (
            b'{"id": "a"}\n{"id": "\xc4\xe3"}\n',
            r"x.jsonl:2: not UTF-8, but GBK or GB18030; convert it: iconv",
        ),
        (rows({"id": "a", "references": [1]}), r"x.jsonl:1: field 'references' must be a text or a list"),
        (rows({"id": "a", "metadata": [1]}), r"x.jsonl:1: field 'metadata' must be an object, got list"),
        (
            rows({"id": "a", "input": [{"role": "boss", "content": "x"}]}),
            r"x.jsonl:1: a message of 'input' needs a",
        ),
        (rows({"id": "a", "input": [{"role": "user"}]}), r"x.jsonl:1: a message of 'input' needs exactly"),
        ("[" * 100_000 + "\n", r"x.jsonl:1: (nested too deeply|not valid JSON)"),
    ],
    ids=[
        "no id",
        "id twice",
        "id is a list",
        "broken JSON",
        "no object",
        "empty",
        "blank",
        "GBK",
        "references",
        "metadata",
        "role",
        "message",
        "deep",
    ],
)
def test_wrong_samples_are_named_by_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_samples(write(tmp_path, text), task="t")


@pytest.fixture
def tasks(tmp_path: Path) -> list:
    first = write(tmp_path, rows({"id": "a"}, {"id": "both"}), "one.jsonl")
    second = write(tmp_path, rows({"id": "both"}), "two.jsonl")
    return [read_samples(first, task="one"), read_samples(second, task="two")]


def test_answers_find_their_task_by_id(tmp_path: Path, tasks: list) -> None:
    text = rows({"id": "a", "output": ""}, {"id": "both", "output": "x", "task": "two", "repeat": "2"})
    responses = read_responses(write(tmp_path, text), tasks, checkpoint="c")
    assert [(r.task, r.sample_id, r.repeat, r.text, r.checkpoint) for r in responses] == [
        ("one", "a", 1, "", "c"),
        ("two", "both", 2, "x", "c"),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "zzz", "output": "x"}, "no task has a sample 'zzz'; there are 2, such as 'a'"),
        ({"id": "bothe", "output": "x"}, "no task has a sample 'bothe'; did you mean 'both'?"),
        ({"id": "both", "output": "x"}, "tasks one, two all have a sample 'both'; add a field 'task'"),
        ({"id": "a", "output": "x", "task": "tow"}, "unknown task 'tow'; did you mean 'two'"),
        ({"id": "a", "output": "x", "task": "two"}, "task 'two' has no sample 'a'"),
        ({"id": "a"}, "field 'output' is missing"),
        ({"id": "a", "output": 3}, "field 'output' must be text"),
        ({"id": "a", "output": "x", "repeat": 0}, "field 'repeat' counts from 1, got 0"),
        ({"id": "a", "output": "x", "repeat": "two"}, "field 'repeat' must be a whole number"),
    ],
    ids=["unknown", "slip", "ambiguous", "task", "wrong task", "no output", "number", "repeat 0", "repeat"],
)
def test_wrong_answers_are_named_by_line(tmp_path: Path, tasks: list, row: dict, message: str) -> None:
    with pytest.raises(DataError, match=f"x.jsonl:1: .*{message}"):
        read_responses(write(tmp_path, rows(row)), tasks, checkpoint="c")


def test_the_same_repeat_twice_is_refused(tmp_path: Path, tasks: list) -> None:
    text = rows({"id": "a", "output": "x"}, {"id": "a", "output": "y", "repeat": 1})
    with pytest.raises(DataError, match="x.jsonl:2: repeat 1 of 'a' is a duplicate, first seen on line 1"):
        read_responses(write(tmp_path, text), tasks, checkpoint="c")


LABEL = {"task": "one", "id": "a", "checkpoint": "c", "score": "s.level", "value": 0.5}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": "good"}, "field 'value' must be a number \\(levels need a plan\\), got 'good'"),
        ({"value": "nan"}, "field 'value' must be a finite number, got 'nan'"),
        ({"score": ""}, "field 'score' is missing"),
        ({"checkpoint": None}, "field 'checkpoint' is missing"),
    ],
    ids=["word", "nan", "score", "checkpoint"],
)
def test_wrong_labels_are_named_by_line(tmp_path: Path, change: dict, message: str) -> None:
    with pytest.raises(DataError, match=f"x.jsonl:1: {message}"):
        read_labels(write(tmp_path, rows({**LABEL, **change})))


def test_an_anchor_needs_its_text_and_no_checkpoint(tmp_path: Path) -> None:
    anchor = {**LABEL, "checkpoint": "", "output": "好呀", "input": "早", "references": ["早呀"]}
    ((_, label),) = read_labels(write(tmp_path, rows(anchor)), frozen=True)
    assert (label.output, label.input, label.references) == ("好呀", "早", ("早呀",))
    with pytest.raises(DataError, match="field 'output' is missing"):
        read_labels(write(tmp_path, rows({**anchor, "output": ""})), frozen=True)


def test_one_rater_labels_an_answer_once(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="x.jsonl:2: the same rater labels 'a' again, first seen on line 1"):
        read_labels(write(tmp_path, rows({**LABEL, "rater": "x"}, {**LABEL, "rater": "x", "value": 1})))


@pytest.mark.parametrize(("value", "expected"), [("B", 0.75), (" ｂ ", 0.75), ("0.75", 0.75), (0.5, 0.5)])
def test_a_level_stands_for_its_value(tmp_path: Path, value: object, expected: float) -> None:
    levels = {("one", "s.level"): {"C": 0.5, "B": 0.75}}
    ((_, label),) = read_labels(write(tmp_path, rows({**LABEL, "value": value})), levels=levels)
    assert label.value == expected


@pytest.mark.parametrize(
    ("levels", "known"), [({}, "(levels need a plan)"), ({"C": 0.5, "B": 0.75}, "or a level (B, C)")]
)
def test_an_unknown_level_names_the_known_ones(tmp_path: Path, levels: dict[str, float], known: str) -> None:
    file = write(tmp_path, rows({**LABEL, "value": "Z"}))
    with pytest.raises(DataError) as caught:
        read_labels(file, levels={("one", "s.level"): levels})
    assert str(caught.value).endswith(f":1: field 'value' must be a number {known}, got 'Z'")

"""Read samples, stored answers, labels and anchors from JSONL and CSV files."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from hengwen.errors import did_you_mean
from hengwen.io.row_reader import DataRow, FieldNames, read_number, read_rows
from hengwen.io.untrusted_json import parse_json
from hengwen.records import Label, Message, Response, Sample
from hengwen.text.numbers import short_repr

SAMPLE_FIELDS = ("id", "input", "references", "metadata", "cluster")
RESPONSE_FIELDS = ("id", "output", "repeat", "task")
LABEL_FIELDS = ("task", "id", "checkpoint", "repeat", "output", "score", "value", "rater", "drawn")
ANCHOR_FIELDS = (*LABEL_FIELDS, "input", "references", "metadata")
MIN_SIMILARITY = 80
"""Similarity, in per cent, from which an unknown sample id is taken for a slip of a known one."""
ROLES = ("system", "user", "assistant")

_SAMPLE_ALIASES = {
    "input": ("prompt", "prompts", "question", "query", "instruction", "instructions", "messages"),
    "references": (
        *("ref", "refs", "target", "targets", "gold", "golden", "ideal", "expected", "ground_truth"),
        *("expected_output", "reference_answer", "reference_answers", "reference_output"),
    ),
    "metadata": ("meta",),
}
_RESPONSE_ALIASES = {"output": ("response", "answer", "completion", "prediction", "generation")}
_LABEL_ALIASES = {**_RESPONSE_ALIASES, "checkpoint": ("ckpt",), "rater": ("annotator", "labeler", "labeller")}


@dataclass(frozen=True, slots=True)
class SampleSet:
    """The samples of a task by id, in file order, and their line numbers."""

    task: str
    path: Path
    samples: dict[str, Sample] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    """Line number in the file, by sample id."""

    def take(self, limit: int | None) -> Samples:
        """Return the first samples of the set."""
        return Samples(self.samples, limit)

    def row(self, sample_id: str) -> DataRow:
        """Return the row of a sample in its file, so that error messages can name file and line."""
        return DataRow(self.path, self.lines[sample_id], {})


class Samples(Collection[Sample]):
    """The first samples of a task, or all of them."""

    def __init__(self, samples: dict[str, Sample], limit: int | None = None) -> None:
        self._samples = samples
        self._limit = limit

    def __iter__(self) -> Iterator[Sample]:
        return islice(self._samples.values(), self._limit)

    def __len__(self) -> int:
        return len(self._samples) if self._limit is None else min(len(self._samples), self._limit)

    def __contains__(self, sample: object) -> bool:
        return any(sample == other for other in self)


class ResponseSet:
    """The stored answers of a checkpoint, by sample and in file order."""

    def __init__(self) -> None:
        self._by_sample: dict[str, tuple[Response, ...]] = {}
        self._count = 0

    def add(self, response: Response) -> bool:
        """Add an answer unless the set already has this repeat of the sample; return whether it was added."""
        key = _sample_key(response.task, response.sample_id)
        responses = self._by_sample.get(key, ())
        if responses and any(other.repeat == response.repeat for other in responses):
            return False
        self._by_sample[key] = (*responses, response)
        self._count += 1
        return True

    def for_sample(self, task: str, sample_id: str) -> tuple[Response, ...]:
        """Return the answers to a sample, in the order of the file."""
        return self._by_sample.get(_sample_key(task, sample_id), ())

    def __iter__(self) -> Iterator[Response]:
        for responses in self._by_sample.values():
            yield from responses

    def __len__(self) -> int:
        return self._count


def _sample_key(task: str, sample_id: str) -> str:
    return f"{task}\n{sample_id}"


def read_samples(path: Path, *, task: str, columns: Mapping[str, str] | None = None) -> SampleSet:
    """Read the samples of a task."""
    samples = SampleSet(task, path)
    names = FieldNames(SAMPLE_FIELDS, _SAMPLE_ALIASES, neighbours=RESPONSE_FIELDS)
    for row in read_rows(path, columns):
        names.check(row)
        sample = Sample(
            id=row.required_text("id"),
            input=_input(row),
            references=_references(row),
            metadata=_metadata(row, SAMPLE_FIELDS),
            task=task,
            cluster=row.text("cluster"),
        )
        if sample.id in samples.samples:
            row.fail(f"field 'id' repeats {sample.id!r}, first seen on line {samples.lines[sample.id]}")
        samples.samples[sample.id] = sample
        samples.lines[sample.id] = row.number
    return samples


def _input(row: DataRow) -> str | tuple[Message, ...]:
    value = row.values.get("input", "")
    if not isinstance(value, list):
        return row.text("input")
    messages: list[Message] = []
    for message in value:
        if not isinstance(message, dict) or set(message) != {"role", "content"}:
            row.fail("a message of 'input' needs exactly 'role' and 'content'")
        if message["role"] not in ROLES or not isinstance(message["content"], str):
            row.fail(f"a message of 'input' needs a role of {', '.join(ROLES)} and text as content")
        messages.append((message["role"], message["content"]))
    return tuple(messages)


def _references(row: DataRow) -> tuple[str, ...]:
    value = row.values.get("references")
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(item is None or isinstance(item, str) for item in value):
        row.fail("field 'references' must be a text or a list of texts, with null for a missing one")
    return tuple(item for item in value if item)


def _metadata(row: DataRow, known_fields: Sequence[str]) -> dict[str, Any]:
    value = row.values.get("metadata")
    if isinstance(value, str) and value:
        try:
            value = parse_json(value)
        except ValueError:
            row.fail("field 'metadata' must be a JSON object")
    if value not in (None, "") and not isinstance(value, dict):
        row.fail(f"field 'metadata' must be an object, got {type(value).__name__}")
    others = {
        name: item for name, item in row.values.items() if name not in known_fields and item not in (None, "")
    }
    return {**others, **(value or {})}


def read_responses(
    path: Path, tasks: Sequence[SampleSet], *, checkpoint: str, columns: Mapping[str, str] | None = None
) -> ResponseSet:
    """Read the stored answers of a checkpoint."""
    by_name = {task.task: task for task in tasks}
    responses = ResponseSet()
    names = FieldNames(RESPONSE_FIELDS, _RESPONSE_ALIASES, neighbours=SAMPLE_FIELDS)
    for row in read_rows(path, columns):
        names.check(row)
        task, sample_id, repeat = key = _response_key(row, by_name)
        output = row.values.get("output")
        if not isinstance(output, str):
            row.missing("output", "text")
        is_new = responses.add(
            Response(
                sample_id=sample_id,
                text=output,
                task=task,
                checkpoint=checkpoint,
                repeat=repeat,
                metadata=_metadata(row, RESPONSE_FIELDS),
            )
        )
        if not is_new:
            first = next(other for other in read_rows(path, columns) if _response_key(other, by_name) == key)
            row.fail(f"repeat {repeat} of {sample_id!r} is a duplicate, first seen on line {first.number}")
    return responses


def _response_key(row: DataRow, tasks: Mapping[str, SampleSet]) -> tuple[str, str, int]:
    """Return (task, sample id, repeat) of a row with a stored answer."""
    sample_id = row.required_text("id")
    return _task_of(row, sample_id, tasks), sample_id, row.positive_int("repeat")


def _task_of(row: DataRow, sample_id: str, tasks: Mapping[str, SampleSet]) -> str:
    name = row.text("task")
    if name:
        if name not in tasks:
            row.fail(f"unknown task {name!r}{did_you_mean(name, tasks)}")
        if sample_id not in tasks[name].samples:
            row.fail(f"task {name!r} has no sample {sample_id!r}{similar_id(sample_id, tasks[name].samples)}")
        return name
    names = [name for name, task in tasks.items() if sample_id in task.samples]
    if not names:
        known = {other for task in tasks.values() for other in task.samples}
        row.fail(f"no task has a sample {sample_id!r}{similar_id(sample_id, known)}")
    if len(names) > 1:
        row.fail(f"tasks {', '.join(names)} all have a sample {sample_id!r}; add a field 'task'")
    return names[0]


def similar_id(sample_id: str, known: Collection[str]) -> str:
    """Return a hint with the most similar sample id, or how many there are if none is similar."""
    from rapidfuzz.process import extractOne

    if match := extractOne(sample_id, sorted(known), score_cutoff=MIN_SIMILARITY):
        return f"; did you mean {short_repr(match[0])}?"
    return f"; there are {len(known)}, such as {short_repr(min(known))}" if known else ""


Levels = Mapping[tuple[str, str], Mapping[str, float]]
"""For each (task, score), the value of each level by its label (such as ``A``)."""


def read_labels(
    path: Path, *, frozen: bool = False, levels: Levels | None = None
) -> list[tuple[DataRow, Label]]:
    """Read human labels, or anchors (frozen answers with a label)."""
    labels: list[tuple[DataRow, Label]] = []
    first_lines: dict[tuple[object, ...], int] = {}
    names = _anchor_names() if frozen else FieldNames(LABEL_FIELDS, _LABEL_ALIASES, way_out="rename it")
    for row in read_rows(path):
        names.check(row)
        label = Label(
            task=row.required_text("task"),
            id=row.required_text("id"),
            checkpoint=row.text("checkpoint") if frozen else row.required_text("checkpoint"),
            repeat=row.positive_int("repeat"),
            output=row.required_text("output") if frozen else row.text("output"),
            score=row.required_text("score"),
            value=_label_value(row, levels or {}),
            rater=row.text("rater"),
            drawn=row.text("drawn"),
            input=_input(row) if frozen else "",
            references=_references(row) if frozen else (),
            metadata=_metadata(row, ANCHOR_FIELDS) if frozen else {},
        )
        key = (*label.key, label.rater)
        if key in first_lines:
            row.fail(f"the same rater labels {label.id!r} again, first seen on line {first_lines[key]}")
        first_lines[key] = row.number
        labels.append((row, label))
    return labels


def _label_value(row: DataRow, levels: Levels) -> float:
    """Return the ``value`` of a human label as a number; the name of a rubric's level is converted."""
    text = row.text("value").strip() if isinstance(row.values.get("value"), str) else ""
    values = levels.get((row.text("task"), row.text("score")), {})
    by_label = {unicodedata.normalize("NFKC", label).casefold(): value for label, value in values.items()}
    value = by_label.get(unicodedata.normalize("NFKC", text).casefold())
    if value is not None:
        return value
    if text and not _is_number(text):
        known = f"or a level ({', '.join(reversed(list(values)))})" if values else "(levels need a plan)"
        row.fail(f"field 'value' must be a number {known}, got {text!r}")
    return read_number(row, "value")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _anchor_names() -> FieldNames:
    aliases = {**_SAMPLE_ALIASES, **_LABEL_ALIASES}
    return FieldNames(ANCHOR_FIELDS, aliases, way_out="rename it, or move it under metadata")

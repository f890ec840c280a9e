"""Samples, stored answers, labels and anchors from JSONL and CSV files."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from hengwen._internal.spill_dict import SpillDict
from hengwen.errors import did_you_mean
from hengwen.io.row_reader import DataRow, read_number, read_rows
from hengwen.records import Message, Response, Sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

SAMPLE_FIELDS = ("id", "input", "references", "metadata", "cluster")
RESPONSE_FIELDS = ("id", "output", "repeat", "task")
LABEL_FIELDS = ("task", "id", "checkpoint", "repeat", "output", "score", "value", "rater")
ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A human value for one answer: one of the plan's answers by place, or a frozen one with its text."""

    task: str
    id: str
    checkpoint: str = ""
    repeat: int = 1
    output: str = ""
    score: str
    value: float
    rater: str = ""
    input: str | tuple[Message, ...] = ""
    references: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SampleSet:
    """The samples of a task, by id in file order, with the line of each; many are kept in a file."""

    task: str
    path: Path
    samples: SpillDict[Sample] = field(default_factory=SpillDict)
    lines: SpillDict[int] = field(default_factory=SpillDict)
    """Where each stands in the file."""

    def first(self, limit: int | None) -> Samples:
        """The samples that a run weighs: all, or the first so many."""
        return Samples(self.samples, limit)

    def line(self, sample_id: str) -> DataRow:
        """Where a sample stands, for messages."""
        return DataRow(self.path, self.lines[sample_id], {})


class Samples(Collection[Sample]):
    """The first samples of a task, or all, one after the other.

    Args:
        samples: Of the task.
        limit: How many; None for all.
    """

    def __init__(self, samples: SpillDict[Sample], limit: int | None = None) -> None:
        self._samples = samples
        self._limit = limit

    def __iter__(self) -> Iterator[Sample]:
        return islice(self._samples.values(), self._limit)

    def __len__(self) -> int:
        return len(self._samples) if self._limit is None else min(len(self._samples), self._limit)

    def __contains__(self, sample: object) -> bool:
        return any(one == sample for one in self)


class ResponseSet:
    """The stored answers of a checkpoint, by sample in file order; many are kept in a file."""

    def __init__(self) -> None:
        self._by_sample: SpillDict[tuple[Response, ...]] = SpillDict()
        self._count = 0

    def add(self, response: Response) -> bool:
        """Add an answer; return whether it is new: one that has its place already stays."""
        place = _place(response.task, response.sample_id)
        before = self._by_sample.get(place, ())
        if before and any(one.repeat == response.repeat for one in before):
            return False
        self._by_sample[place] = (*before, response)
        self._count += 1
        return True

    def of(self, task: str, sample_id: str) -> tuple[Response, ...]:
        """The answers to a sample, in file order."""
        return self._by_sample.get(_place(task, sample_id), ())

    def __iter__(self) -> Iterator[Response]:
        for answers in self._by_sample.values():
            yield from answers

    def __len__(self) -> int:
        return self._count


def _place(task: str, sample_id: str) -> str:
    return f"{task}\n{sample_id}"


def read_samples(path: Path, *, task: str, columns: Mapping[str, str] | None = None) -> SampleSet:
    """Read the samples of a task.

    Fields: ``id`` (required, unique), ``input`` (text, or a list of {role, content}), ``references`` (a list
    or one text), ``metadata`` (an object), ``cluster``. Other columns are kept in the metadata.

    Raises:
        DataError: With file and line.
    """
    found = SampleSet(task, path)
    for line in read_rows(path, columns):
        sample = Sample(
            id=line.text("id"),
            input=_input(line),
            references=_references(line),
            metadata=_metadata(line, SAMPLE_FIELDS),
            task=task,
            cluster=line.text("cluster", ""),
        )
        if sample.id in found.samples:
            first = found.lines[sample.id]
            line.fail(f"field 'id' repeats {sample.id!r}, first seen on line {first}")
        found.samples[sample.id] = sample
        found.lines[sample.id] = line.number
    return found


def _input(line: DataRow) -> str | tuple[Message, ...]:
    value = line.values.get("input", "")
    if not isinstance(value, list):
        return line.text("input", "")
    messages: list[Message] = []
    for message in value:
        if not isinstance(message, dict) or set(message) != {"role", "content"}:
            line.fail("a message of 'input' needs exactly 'role' and 'content'")
        if message["role"] not in ROLES or not isinstance(message["content"], str):
            line.fail(f"a message of 'input' needs a role of {', '.join(ROLES)} and text as content")
        messages.append((message["role"], message["content"]))
    return tuple(messages)


def _references(line: DataRow) -> tuple[str, ...]:
    value = line.values.get("references")
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        line.fail("field 'references' must be a text or a list of texts")
    return tuple(item for item in value if item)


def _metadata(line: DataRow, known: Sequence[str]) -> dict[str, Any]:
    value = line.values.get("metadata")
    if isinstance(value, str) and value:
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            line.fail("field 'metadata' must be a JSON object")
    if value not in (None, "") and not isinstance(value, dict):
        line.fail(f"field 'metadata' must be an object, got {type(value).__name__}")
    others = {
        name: item for name, item in line.values.items() if name not in known and item not in (None, "")
    }
    return {**others, **(value or {})}


def read_responses(
    path: Path, tasks: Sequence[SampleSet], *, checkpoint: str, columns: Mapping[str, str] | None = None
) -> ResponseSet:
    """Read the stored answers of a checkpoint.

    Fields: ``id`` (of a sample), ``output`` (may be empty: a model may say nothing), ``repeat`` (default 1),
    ``task`` (needed only where an id stands in several tasks).

    Raises:
        DataError: With file and line.
    """
    by_name = {task.task: task for task in tasks}
    found = ResponseSet()
    for line in read_rows(path, columns):
        sample_id = line.text("id")
        task = _task_of(line, sample_id, by_name)
        output = line.values.get("output")
        if not isinstance(output, str):
            line.fail("field 'output' is missing" if output is None else "field 'output' must be text")
        repeat = line.whole("repeat", 1)
        is_new = found.add(
            Response(
                sample_id=sample_id,
                text=output,
                task=task,
                checkpoint=checkpoint,
                repeat=repeat,
                metadata=_metadata(line, RESPONSE_FIELDS),
            )
        )
        if not is_new:
            place = (sample_id, repeat, task)
            first = next(one for one in read_rows(path, columns) if _place_of(one, by_name) == place)
            line.fail(f"repeat {repeat} of {sample_id!r} is here again, first seen on line {first.number}")
    return found


def _place_of(line: DataRow, tasks: Mapping[str, SampleSet]) -> tuple[str, int, str]:
    sample_id = line.text("id")
    return sample_id, line.whole("repeat", 1), _task_of(line, sample_id, tasks)


def _task_of(line: DataRow, sample_id: str, tasks: Mapping[str, SampleSet]) -> str:
    named = line.values.get("task")
    if named:
        if named not in tasks:
            line.fail(f"unknown task {named!r}{did_you_mean(str(named), tasks)}")
        if sample_id not in tasks[named].samples:
            line.fail(f"task {named!r} has no sample {sample_id!r}")
        return str(named)
    holders = [name for name, task in tasks.items() if sample_id in task.samples]
    if not holders:
        line.fail(f"no task has a sample {sample_id!r}")
    if len(holders) > 1:
        line.fail(f"sample {sample_id!r} stands in tasks {', '.join(holders)}: a field 'task' must say which")
    return holders[0]


def read_labels(path: Path, *, frozen: bool = False) -> list[tuple[DataRow, Label]]:
    """Read human labels, or anchors.

    Args:
        path: JSONL or CSV with task, id, checkpoint, repeat, output, score, value, rater.
        frozen: Anchors: ``output`` is required, ``checkpoint`` is not, ``input`` and ``references`` are read.

    Raises:
        DataError: With file and line.
    """
    found: list[tuple[DataRow, Label]] = []
    seen: dict[tuple[str, ...], int] = {}
    for line in read_rows(path):
        label = Label(
            task=line.text("task"),
            id=line.text("id"),
            checkpoint=line.text("checkpoint", "" if frozen else None),
            repeat=line.whole("repeat", 1),
            output=line.text("output", None if frozen else ""),
            score=line.text("score"),
            value=read_number(line, "value"),
            rater=line.text("rater", ""),
            input=_input(line) if frozen else "",
            references=_references(line) if frozen else (),
            metadata=_metadata(line, (*LABEL_FIELDS, "input", "references")) if frozen else {},
        )
        place = (label.task, label.id, label.checkpoint, str(label.repeat), label.score, label.rater)
        if place in seen:
            line.fail(f"the same rater labels {label.id!r} again, first seen on line {seen[place]}")
        seen[place] = line.number
        found.append((line, label))
    return found

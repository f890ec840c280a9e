"""Convert records to table columns and back; see ``evaluation_codec`` for scores and failures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from hengwen.records import Attempt, Response, Run, Sample, Usage, digest
from hengwen.text.numbers import without_fraction
from hengwen.text.safety import replace_surrogates

if TYPE_CHECKING:
    from sqlalchemy import RowMapping


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)
_RUN_MAPPINGS = ("versions", "reducers", "facts")
USAGE_FIELDS = tuple(Usage.__dataclass_fields__)
_ATTEMPT_FIELDS = tuple(name for name in Attempt.__dataclass_fields__ if name != "usage")
_attempt_values = attrgetter(*_ATTEMPT_FIELDS)


def to_json(value: object) -> str:
    """Return the value as JSON text that every database can store."""
    if not value and isinstance(value, (dict, list, tuple)):
        return "{}" if isinstance(value, dict) else "[]"
    return storable_text(_ENCODER.encode(value))


def storable_text(text: str) -> str:
    """Return text that every database can store: lone surrogates and NUL become U+FFFD."""
    return replace_surrogates(text).replace("\x00", "\ufffd")


def run_columns(run: Run) -> dict[str, Any]:
    """Return the columns of a run."""
    columns = asdict(run)
    columns["position"] = columns.pop("order")
    columns["layout"] = to_json(columns.pop("score_order"))
    return columns | {name: to_json(dict(getattr(run, name))) for name in _RUN_MAPPINGS}


def run_from(columns: RowMapping) -> Run:
    """Convert a table row to a ``Run`` record."""
    values = dict(columns)
    values["order"] = values.pop("position")
    values["step"] = None if values["step"] is None else without_fraction(values["step"])
    values["score_order"] = tuple(json.loads(values.pop("layout")))
    return Run(**values | {name: json.loads(values[name]) for name in _RUN_MAPPINGS})


def sample_columns(sample: Sample) -> dict[str, Any]:
    """Return the columns of a sample."""
    return {
        "hash": sample.hash,
        "sample_id": sample.id,
        "input": to_json(sample.input),
        "references": to_json(sample.references),
        "metadata": to_json(dict(sample.metadata)),
    }


def sample_from(columns: RowMapping) -> Sample:
    """Convert an answer's table row, joined with that of its sample, to a ``Sample`` record."""
    sample_input = json.loads(columns["input"])
    if not isinstance(sample_input, str):
        sample_input = tuple((role, content) for role, content in sample_input)
    return Sample(
        id=columns["sample_id"],
        input=sample_input,
        references=tuple(json.loads(columns["references"])),
        metadata=json.loads(columns["sample_metadata"]),
        task=columns["task"],
    )


def response_columns(run_id: str, sample: Sample, response: Response) -> dict[str, Any]:
    """Return the columns of an answer."""
    return {
        "run_id": run_id,
        "task": response.task,
        "sample_id": response.sample_id,
        "repeat": response.repeat,
        "sample_hash": sample.hash,
        "text": storable_text(response.text),
        "metadata": to_json(dict(response.metadata)),
    }


def attempt_columns(attempt: Attempt, encoder: PromptEncoder) -> dict[str, Any]:
    """Return the columns of an attempt (a sent call)."""
    columns: dict[str, Any] = dict(zip(_ATTEMPT_FIELDS, _attempt_values(attempt), strict=True))
    messages = [
        (role, encoder.encode(storable_text(content))) for role, content in attempt.request["messages"]
    ]
    columns["request"] = to_json({**attempt.request, "messages": messages})
    columns["raw"] = storable_text(attempt.raw)
    columns["extras"] = to_json(dict(attempt.extras)) if attempt.extras else ""
    return columns | {name: getattr(attempt.usage, name) for name in USAGE_FIELDS}


def attempt_from(columns: RowMapping, prompts: Mapping[str, str]) -> Attempt:
    """Convert a table row to an ``Attempt`` record (a sent call) with the prompts of ``prompt_keys``."""
    values = dict(columns)
    usage = Usage(**{name: values.pop(name) for name in USAGE_FIELDS})
    request = json.loads(values["request"])
    messages = [
        (role, prompts[content["begins"]][: content["length"]] + str(content["rest"]))
        if isinstance(content, dict)
        else (role, content)
        for role, content in request["messages"]
    ]
    values["request"] = {**request, "messages": messages}
    values["extras"] = json.loads(values["extras"]) if values["extras"] else {}
    return Attempt(**values, usage=usage)


def prompt_keys(columns: RowMapping) -> set[str]:
    """Return the keys in the table ``prompt`` of the texts to which a stored attempt (a sent call) refers."""
    messages = json.loads(columns["request"])["messages"]
    return {content["begins"] for _, content in messages if isinstance(content, dict)}


MIN_LENGTH = 400
"""Minimum number of leading characters that two texts must share for one to refer to the other."""
MAX_RECENT = 32
"""Number of texts that are kept in memory to be referred to."""


class PromptEncoder:
    """Encode a text as a reference to the first text that begins like it, as all prompts of a judge do.

    What is not shared stays readable for SQL: the viewer finds the calls about an answer by its text.
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._keys: dict[str, str] = {}
        self._new: dict[str, str] = {}

    def encode(self, text: str) -> str | dict[str, Any]:
        """Return the key of a text, the number of characters to take from it, and those that follow."""
        beginning = text[:MIN_LENGTH]
        if len(beginning) < MIN_LENGTH:
            return text
        first = self._first.pop(beginning, "")
        length = _shared_length(first, text)
        if length < len(text) // 2:
            self._first[beginning] = text
            self._keys.pop(beginning, None)
            if len(self._first) > MAX_RECENT:
                oldest = next(iter(self._first))
                del self._first[oldest]
                self._keys.pop(oldest, None)
            return text
        self._first[beginning] = first  # now the last one to be forgotten
        key = self._keys.get(beginning)
        if key is None:
            key = self._keys[beginning] = digest(first)
            self._new[key] = first
        return {"begins": key, "length": length, "rest": text[length:]}

    def drain(self) -> dict[str, str]:
        """Return, by key, the texts that were first referred to since the last call of ``drain``."""
        new, self._new = self._new, {}
        return new


def _shared_length(first: str, text: str) -> int:
    """Return the number of leading characters that two texts share, by bisection."""
    low, high = 0, min(len(first), len(text)) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if first[low:middle] == text[low:middle]:
            low = middle
        else:
            high = middle
    return low

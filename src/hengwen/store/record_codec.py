"""Convert records to table columns and back; see ``evaluation_codec`` for scores and failures.

Long beginnings (prefixes) of prompts are stored once, and prompts refer to them by key.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from hengwen.records import Attempt, Response, Run, Sample, Usage, digest
from hengwen.text.numbers import without_fraction
from hengwen.text.safety import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


def attempt_columns(attempt: Attempt, prefixes: PrefixStore) -> dict[str, Any]:
    """Return the columns of an attempt (a sent call); ``prefixes`` stores long beginnings of prompts."""
    columns: dict[str, Any] = dict(zip(_ATTEMPT_FIELDS, _attempt_values(attempt), strict=True))
    messages = [(role, storable_text(content)) for role, content in attempt.request["messages"]]
    columns["request"] = to_json({**attempt.request, "messages": prefixes.encode_messages(messages)})
    columns["raw"] = storable_text(attempt.raw)
    columns["extras"] = to_json(dict(attempt.extras)) if attempt.extras else ""
    return columns | {name: getattr(attempt.usage, name) for name in USAGE_FIELDS}


def prefix_keys(columns: RowMapping) -> set[str]:
    """Return the keys of the prompt prefixes that a stored attempt (a sent call) refers to."""
    messages = json.loads(columns["request"])["messages"]
    return {content["begins"] for _, content in messages if isinstance(content, dict)}


def attempt_from(columns: RowMapping, prefixes: Mapping[str, str]) -> Attempt:
    """Convert a table row to an ``Attempt`` record (a sent call)."""
    values = dict(columns)
    usage = Usage(**{name: values.pop(name) for name in USAGE_FIELDS})
    request = json.loads(values["request"])
    messages = [(role, decode(content, prefixes)) for role, content in request["messages"]]
    values["request"] = {**request, "messages": messages}
    values["extras"] = json.loads(values["extras"]) if values["extras"] else {}
    return Attempt(**values, usage=usage)


MIN_LENGTH = 400
"""Minimum number of leading characters that two texts must share to be stored with a common prefix."""
MAX_RECENT = 32
"""Number of recent texts that are searched for a shared prefix."""


class _Prefix:
    """A recent text; it gets a key, and is stored, when another text first refers to its beginning."""

    __slots__ = ("_shared", "key", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.key = ""
        self._shared = text

    def shared_with(self, other: str) -> int:
        """Return the number of leading characters shared with another text."""
        length = len(self._shared)
        if not other.startswith(self._shared) or self.text[length : length + 1] == other[length : length + 1]:
            length = shared_length(self.text, other)
            self._shared = self.text[:length]
        return length


class PrefixStore:
    """Encode a text as a reference to a prefix that it shares with a recent text."""

    def __init__(self) -> None:
        self._recent: list[_Prefix] = []
        self._new: dict[str, str] = {}

    def encode(self, text: str) -> str | dict[str, Any]:
        """Encode a text as a reference to a prefix of a recent text, with the characters that follow it."""
        if len(text) < MIN_LENGTH:
            return text
        head = text[:MIN_LENGTH]
        for index, prefix in enumerate(self._recent):
            if not prefix.text.startswith(head):
                continue
            length = prefix.shared_with(text)
            if length >= len(text) // 2:
                self._recent.insert(0, self._recent.pop(index))
                if not prefix.key:
                    prefix.key = digest(prefix.text)
                    self._new[prefix.key] = prefix.text
                return {"begins": prefix.key, "length": length, "rest": text[length:]}
        self._recent.insert(0, _Prefix(text))
        del self._recent[MAX_RECENT:]
        return text

    def encode_messages(self, messages: Sequence[tuple[str, str]]) -> list[tuple[str, str | dict[str, Any]]]:
        """Return messages whose contents are encoded by ``encode``."""
        return [(role, self.encode(content)) for role, content in messages]

    def drain(self) -> dict[str, str]:
        """Return, by key, the prefixes that were first referenced since the last call of ``drain``."""
        new, self._new = self._new, {}
        return new


def decode(encoded: str | Mapping[str, Any], prefixes: Mapping[str, str]) -> str:
    """Return the text that ``PrefixStore.encode`` encoded."""
    if isinstance(encoded, str):
        return encoded
    return prefixes[encoded["begins"]][: encoded["length"]] + str(encoded["rest"])


def shared_length(earlier: str, later: str) -> int:
    """Return the number of leading characters that two texts share."""
    low, high = 0, min(len(earlier), len(later))
    if earlier[:high] == later[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if earlier[low:middle] == later[low:middle]:
            low = middle
        else:
            high = middle
    return low

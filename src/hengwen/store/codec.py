"""Records to columns and back."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from hengwen.records import Attempt, Failure, Outcome, Response, Row, Run, Sample, Scale, Score, Usage
from hengwen.store.prefix_dedup import join

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import RowMapping

    from hengwen.store.prefix_dedup import PrefixStore

Thing = TypeVar("Thing")

_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)
_COUNTS = tuple(Usage.__dataclass_fields__)
_OF_ATTEMPT = tuple(name for name in Attempt.__dataclass_fields__ if name != "usage")
_values_of_attempt = attrgetter(*_OF_ATTEMPT)
_BROKEN = re.compile("[\x00\ud800-\udfff]")


def dump(value: object) -> str:
    """Write JSON; lone surrogates, which no database takes, become U+FFFD."""
    if not value and isinstance(value, (dict, list, tuple)):
        return "{}" if isinstance(value, dict) else "[]"
    return clean(_ENCODER.encode(value))


def clean(text: str) -> str:
    """Return text that every database takes: lone surrogates and NUL become U+FFFD.

    Examples:
        >>> clean("a\\x00b")
        'a\\ufffdb'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return _BROKEN.sub("\ufffd", text)
    return text.replace("\x00", "\ufffd")


def run_columns(run: Run) -> dict[str, Any]:
    """Columns of a run."""
    columns = asdict(run)
    columns["position"] = columns.pop("order")
    columns["versions"] = dump(dict(run.versions))
    columns["layout"] = dump(run.layout)
    columns["reducers"] = dump(dict(run.reducers))
    return columns


def run_of(columns: RowMapping) -> Run:
    """The run in a table row."""
    values = dict(columns)
    values["order"] = values.pop("position")
    values["versions"] = json.loads(values["versions"])
    values["layout"] = tuple(json.loads(values["layout"]))
    values["reducers"] = json.loads(values["reducers"])
    return Run(**values)


def sample_columns(sample: Sample) -> dict[str, Any]:
    """Columns of a sample."""
    return {
        "hash": sample.hash,
        "sample_id": sample.id,
        "input": dump(sample.input),
        "references": dump(sample.references),
        "metadata": dump(dict(sample.metadata)),
    }


def response_columns(run_id: str, sample: Sample, response: Response) -> dict[str, Any]:
    """Columns of an answer."""
    return {
        "run_id": run_id,
        "task": response.task,
        "sample_id": response.sample_id,
        "repeat": response.repeat,
        "sample_hash": sample.hash,
        "text": clean(response.text),
        "metadata": dump(dict(response.metadata)),
    }


def attempt_columns(attempt: Attempt, beginnings: PrefixStore) -> dict[str, Any]:
    """Columns of an attempt; the long beginnings of its prompt are kept apart."""
    columns: dict[str, Any] = dict(zip(_OF_ATTEMPT, _values_of_attempt(attempt), strict=True))
    messages = beginnings.cut_messages(attempt.request["messages"])
    columns["request"] = dump({**attempt.request, "messages": messages})
    columns["raw"] = clean(attempt.raw)
    columns["extras"] = _details(attempt.extras) if attempt.extras else ""
    usage = attempt.usage
    columns |= {name: getattr(usage, name) for name in _COUNTS}
    return columns


def beginnings_in(columns: RowMapping) -> set[str]:
    """The keys of the texts that an attempt refers to."""
    messages = json.loads(columns["request"])["messages"]
    return {content["begins"] for _, content in messages if isinstance(content, dict)}


def attempt_of(columns: RowMapping, texts: Mapping[str, str]) -> Attempt:
    """The attempt in a table row, with the texts that it refers to."""
    values = dict(columns)
    usage = Usage(**{name: values.pop(name) for name in _COUNTS})
    request = json.loads(values["request"])
    messages = [(role, join(content, texts)) for role, content in request["messages"]]
    values["request"] = {**request, "messages": messages}
    values["extras"] = json.loads(values["extras"]) if values["extras"] else {}
    return Attempt(**values, usage=usage)


def row_columns(row: Row, texts: dict[int, str]) -> dict[str, Any]:
    """Columns of a row.

    Args:
        row: With its outcome.
        texts: What was written of rows that are kept together, by identity: they share scales and details.
    """
    outcome = row.outcome
    status: str
    value: float | None
    if isinstance(outcome, Score):
        status, value, reason = "ok", outcome.value, outcome.reason
        scale = "" if outcome.scale is None else _once(outcome.scale, _scale_text, texts)
        details = _once(outcome.details, _details, texts) if outcome.details else ""
    else:
        status, value, reason = outcome.status, None, outcome.message
        scale, details = "", clean(outcome.raw)
    return {
        "run_id": row.run_id,
        "task": row.task,
        "sample_id": row.sample_id or "",
        "repeat": row.repeat or 0,
        "name": outcome.name,
        "kind": outcome.kind,
        "cluster": row.cluster,
        "signature": outcome.signature,
        "item_hash": row.item_hash,
        "status": status,
        "value": value,
        "reason": clean(reason) if reason else "",
        "scale": scale,
        "details": details,
    }


def row_of(columns: RowMapping, checkpoint: str) -> Row:
    """The row in a table row."""
    outcome: Outcome
    name, signature, kind = columns["name"], columns["signature"], columns["kind"]
    if columns["status"] == "ok":
        outcome = Score(
            name=name,
            value=columns["value"],
            signature=signature,
            scale=_scale_of(columns["scale"]) if columns["scale"] else None,
            kind=kind,
            reason=columns["reason"],
            details=json.loads(columns["details"]) if columns["details"] else {},
        )
    else:
        outcome = Failure(
            name=name,
            status=columns["status"],
            message=columns["reason"],
            signature=signature,
            kind=kind,
            raw=columns["details"],
        )
    return Row(
        run_id=columns["run_id"],
        task=columns["task"],
        checkpoint=checkpoint,
        sample_id=columns["sample_id"] or None,
        repeat=columns["repeat"] or None,
        cluster=columns["cluster"],
        outcome=outcome,
        item_hash=columns["item_hash"],
    )


def _once(thing: Thing, write: Callable[[Thing], str], texts: dict[int, str]) -> str:
    text = texts.get(id(thing))
    if text is None:
        text = texts[id(thing)] = write(thing)
    return text


def _details(details: Mapping[str, Any]) -> str:
    """Details as JSON; a judge's are mostly the same few words, which are written once."""
    if set(map(type, details.values())) == {str}:
        return _words(tuple(details.items()))
    return dump(dict(details))


@lru_cache(maxsize=1024)
def _words(details: tuple[tuple[str, str], ...]) -> str:
    return dump(dict(details))


@lru_cache(maxsize=256)
def _scale_text(scale: Scale) -> str:
    return dump(asdict(scale))


@lru_cache(maxsize=256)
def _scale_of(text: str) -> Scale:
    values = json.loads(text)
    levels = values.pop("levels")
    return Scale(**values, levels=None if levels is None else tuple(levels))

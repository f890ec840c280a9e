"""Convert records to table columns and back."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from hengwen.io.text_safety import replace_surrogates
from hengwen.records import Attempt, Failure, Outcome, Response, Row, Run, Sample, Scale, Score, Usage
from hengwen.store.prefix_dedup import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import RowMapping

    from hengwen.store.prefix_dedup import PrefixStore

Value = TypeVar("Value")

_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)
_USAGE_FIELDS = tuple(Usage.__dataclass_fields__)
_ATTEMPT_FIELDS = tuple(name for name in Attempt.__dataclass_fields__ if name != "usage")
_attempt_values = attrgetter(*_ATTEMPT_FIELDS)


def to_json(value: object) -> str:
    """Return the value as JSON text that every database can store."""
    if not value and isinstance(value, (dict, list, tuple)):
        return "{}" if isinstance(value, dict) else "[]"
    return storable_text(_ENCODER.encode(value))


def storable_text(text: str) -> str:
    """Return text that every database can store: lone surrogates and NUL become U+FFFD.

    Examples:
        >>> storable_text("a\\x00b")
        'a\\ufffdb'
    """
    return replace_surrogates(text).replace("\x00", "\ufffd")


def run_columns(run: Run) -> dict[str, Any]:
    """Return the columns of a run."""
    columns = asdict(run)
    columns["position"] = columns.pop("order")
    columns["versions"] = to_json(dict(run.versions))
    columns["layout"] = to_json(columns.pop("score_order"))
    columns["reducers"] = to_json(dict(run.reducers))
    columns["facts"] = to_json(dict(run.facts))
    return columns


def run_from(columns: RowMapping) -> Run:
    """Convert a table row to a ``Run`` record."""
    values = dict(columns)
    values["order"] = values.pop("position")
    values["versions"] = json.loads(values["versions"])
    values["score_order"] = tuple(json.loads(values.pop("layout")))
    values["reducers"] = json.loads(values["reducers"])
    values["facts"] = json.loads(values["facts"])
    return Run(**values)


def sample_columns(sample: Sample) -> dict[str, Any]:
    """Return the columns of a sample."""
    return {
        "hash": sample.hash,
        "sample_id": sample.id,
        "input": to_json(sample.input),
        "references": to_json(sample.references),
        "metadata": to_json(dict(sample.metadata)),
    }


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


def response_from(columns: RowMapping, checkpoint: str) -> Response:
    """Convert a table row to a ``Response`` record."""
    return Response(
        sample_id=columns["sample_id"],
        text=columns["text"],
        task=columns["task"],
        checkpoint=checkpoint,
        repeat=columns["repeat"],
        metadata=json.loads(columns["metadata"]),
    )


def attempt_columns(attempt: Attempt, prefixes: PrefixStore) -> dict[str, Any]:
    """Return the columns of an attempt (a sent call); ``prefixes`` stores long beginnings of prompts."""
    columns: dict[str, Any] = dict(zip(_ATTEMPT_FIELDS, _attempt_values(attempt), strict=True))
    messages = [(role, storable_text(content)) for role, content in attempt.request["messages"]]
    columns["request"] = to_json({**attempt.request, "messages": prefixes.encode_messages(messages)})
    columns["raw"] = storable_text(attempt.raw)
    columns["extras"] = _details(attempt.extras) if attempt.extras else ""
    usage = attempt.usage
    columns |= {name: getattr(usage, name) for name in _USAGE_FIELDS}
    return columns


def prefix_keys(columns: RowMapping) -> set[str]:
    """Return the keys of the prompt prefixes that a stored attempt (a sent call) refers to."""
    messages = json.loads(columns["request"])["messages"]
    return {content["begins"] for _, content in messages if isinstance(content, dict)}


def attempt_from(columns: RowMapping, prefixes: Mapping[str, str]) -> Attempt:
    """Convert a table row to an ``Attempt`` record (a sent call).

    Args:
        columns: The table row.
        prefixes: The prompt prefixes to which the table row refers, by key.
    """
    values = dict(columns)
    usage = Usage(**{name: values.pop(name) for name in _USAGE_FIELDS})
    request = json.loads(values["request"])
    messages = [(role, decode(content, prefixes)) for role, content in request["messages"]]
    values["request"] = {**request, "messages": messages}
    values["extras"] = json.loads(values["extras"]) if values["extras"] else {}
    return Attempt(**values, usage=usage)


def row_columns(row: Row, texts: dict[int, str]) -> dict[str, Any]:
    """Return the table columns of a row (a score or failure with the key of its answer).

    Args:
        row: The row.
        texts: JSON texts of objects that several rows of this batch share, keyed by ``id()`` of the object.
    """
    outcome = row.outcome
    status: str
    value: float | None
    if isinstance(outcome, Score):
        status, value, reason = "ok", outcome.value, outcome.reason
        scale = "" if outcome.scale is None else _cached(outcome.scale, _scale_text, texts)
        details = _cached(outcome.details, _details, texts) if outcome.details else ""
    else:
        status, value, reason = outcome.status, None, outcome.message
        scale, details = "", storable_text(outcome.raw)
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
        "reason": storable_text(reason) if reason else "",
        "scale": scale,
        "details": details,
    }


def row_from(columns: RowMapping, checkpoint: str) -> Row:
    """Convert a table row to a ``Row`` (a score or failure with the key of its answer)."""
    outcome: Outcome
    name, signature, kind = columns["name"], columns["signature"], columns["kind"]
    if columns["status"] == "ok":
        outcome = Score(
            name=name,
            value=columns["value"],
            signature=signature,
            scale=scale_from(columns["scale"]) if columns["scale"] else None,
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


def _cached(value: Value, to_text: Callable[[Value], str], texts: dict[int, str]) -> str:
    text = texts.get(id(value))
    if text is None:
        text = texts[id(value)] = to_text(value)
    return text


def _details(details: Mapping[str, Any]) -> str:
    """Return the details of a score as JSON; details of judges are cached, because they repeat often."""
    if set(map(type, details.values())) == {str}:
        return _text_details(tuple(details.items()))
    return to_json(dict(details))


@lru_cache(maxsize=1024)
def _text_details(details: tuple[tuple[str, str], ...]) -> str:
    return to_json(dict(details))


@lru_cache(maxsize=256)
def _scale_text(scale: Scale) -> str:
    return to_json(asdict(scale))


@lru_cache(maxsize=256)
def scale_from(text: str) -> Scale:
    """Return the scale that the text in a table row encodes."""
    values = json.loads(text)
    levels = values.pop("levels")
    return Scale(**values, levels=None if levels is None else tuple(levels))

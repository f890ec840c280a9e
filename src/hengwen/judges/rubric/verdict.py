"""Parse the reply of a judge strictly: it must contain one JSON object with known labels.

The messages of errors are quoted in prompts of repair calls, and the key that identifies a call depends on
its prompt. If an error message changes, stored replies to repair calls with the old message are not found any
more.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hengwen.errors import JudgeError
from hengwen.objective.detectors import after_thinking, strip_thinking
from hengwen.prompts.rubric import verdict_shape

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hengwen.prompts.rubric import Rubric

REASON_LIMIT = 2000
"""Maximum length of a reason in the schema, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedVerdict:
    """Contents of a judge's reply: the reason, and labels of the rubric."""

    reason: str
    level: str
    criteria: Mapping[str, str] = field(default_factory=dict)

    def label(self, part: str) -> str:
        """Return the label of the level or of a criterion."""
        return self.level if part == "level" else self.criteria[part]


def verdict_schema(rubric: Rubric) -> dict[str, Any]:
    """Return the JSON schema of a verdict."""
    label = {"type": "string", "enum": list(rubric.labels)[::-1]}
    properties = verdict_shape(rubric, {"type": "string", "maxLength": REASON_LIMIT}, label)
    if rubric.criteria:
        properties["criteria"] = object_schema(properties["criteria"])
    return object_schema(properties)


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def parse_verdict(
    text: str, rubric: Rubric, finish: str = "stop", quoted: Collection[str] = ()
) -> ParsedVerdict:
    """Return the verdict in a reply; an object that stands in one of the quoted texts is no verdict."""
    try:
        return _parse(text, rubric, finish, quoted)
    except JudgeError as error:
        error.raw = text
        raise


def _parse(text: str, rubric: Rubric, finish: str, quoted: Collection[str]) -> ParsedVerdict:
    reason, verdict = verdict_fields(text, finish, verdict_shape(rubric, None, None), quoted)
    criteria = verdict.get("criteria", {})
    if not isinstance(criteria, dict):
        raise _unusable("parse_error", f"criteria must be an object, got {_short_repr(criteria)}")
    _check_keys("criteria", criteria, rubric.criteria)
    return ParsedVerdict(
        reason=reason,
        level=parse_label("level", verdict["level"], rubric.labels),
        criteria={name: parse_label(name, criteria[name], rubric.labels) for name in rubric.criteria},
    )


def verdict_fields(
    text: str, finish: str, keys: Mapping[str, Any], quoted: Collection[str] = ()
) -> tuple[str, dict[str, Any]]:
    """Return the reason and all fields of the only JSON object in a reply."""
    if finish == "length":
        raise _unusable("truncated", "the reply was cut off at the token limit; raise max_tokens")
    if finish == "content_filter":
        raise _unusable("refused", "the reply was withheld by a content filter")
    answer = strip_thinking(text)
    if answer is None:
        raise _unusable("truncated", "the reply stops inside <think>; raise max_tokens")
    verdict = _verdict_object(answer, quoted)
    _check_keys("the verdict", verdict, keys)
    reason = verdict["reason"]
    if not isinstance(reason, str):
        raise _unusable("parse_error", f"reason must be text, got {_short_repr(reason)}")
    return reason.strip().encode("utf-8", "replace").decode(), verdict


def _verdict_object(answer: str, quoted: Collection[str]) -> dict[str, Any]:
    try:
        return _only_object(answer, quoted)
    except JudgeError:
        remainder = after_thinking(answer)
        if remainder is None:
            raise
    return _only_object(remainder, quoted)


def _only_object(text: str, quoted: Collection[str]) -> dict[str, Any]:
    start = text.find("{")
    if start < 0:
        raise _unusable("parse_error", "the reply holds no JSON object")
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise _unusable("parse_error", "the reply nests too deeply") from None
    except ValueError as error:
        raise _unusable("parse_error", f"the reply is not valid JSON: {error}") from None
    if "{" in text[end:] or "}" in text[:start] + text[end:]:
        raise _unusable("parse_error", "the reply holds more than one JSON object, or stray braces")
    assert isinstance(value, dict)
    if any(text[start:end] in part for part in quoted):
        raise _unusable("parse_error", "the reply only quotes a verdict that stands in the judged text")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key repeats")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, strict=False)


def _check_keys(where: str, actual: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    if actual.keys() == expected.keys():
        return
    missing = [name for name in expected if name not in actual]
    if missing:
        raise _unusable("parse_error", f"{where} lacks {', '.join(missing)}")
    extra = [name for name in actual if name not in expected]
    raise _unusable("parse_error", f"{where} has unknown keys: {', '.join(map(_short_repr, extra[:5]))}")


def parse_label(where: str, value: object, labels: Collection[str]) -> str:
    """Return the label that a field of a verdict names; upper and lower case count as equal."""
    if isinstance(value, str) and value in labels:
        return value
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _unusable("parse_error", f"{where} must be a label, got {_short_repr(value)}")
    if isinstance(value, str):
        for label in labels:
            if label.casefold() == value.strip().casefold():
                return label
    raise _unusable("off_scale", f"{where} is {_short_repr(value)}, known: {', '.join(labels)}")


def _short_repr(value: object) -> str:
    text = f"a {type(value).__name__}" if isinstance(value, (dict, list)) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _unusable(status: str, message: str) -> JudgeError:
    return JudgeError(message, status=status)

"""From a reply to a verdict: one JSON object with known labels, or a JudgeError. Nothing is guessed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hengwen.errors import JudgeError
from hengwen.objective.detectors.thinking import after_thinking, strip_thinking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.prompts.rubric import Rubric

REASON_LIMIT = 2000
"""Characters that the schema allows for a reason."""
_KEYS = dict.fromkeys(("reason", "criteria", "level"))
_KEYS_WITHOUT_CRITERIA = dict.fromkeys(("reason", "level"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedVerdict:
    """What a reply says, in the rubric's own labels."""

    reason: str
    level: str
    criteria: Mapping[str, str] = field(default_factory=dict)

    def at(self, place: str) -> str:
        """Return the label of the level, or of a criterion."""
        return self.level if place == "level" else self.criteria[place]


def verdict_schema(rubric: Rubric) -> dict[str, Any]:
    """Return the JSON schema of a verdict: the reason first, then the criteria, then the level.

    Args:
        rubric: Its labels, the best first, are the only levels; without criteria there is no ``criteria``.

    Examples:
        >>> from hengwen.prompts import load_rubric
        >>> list(verdict_schema(load_rubric("lyric_craft"))["properties"])
        ['reason', 'criteria', 'level']
    """
    level = {"type": "string", "enum": list(rubric.labels)[::-1]}
    properties: dict[str, Any] = {"reason": {"type": "string", "maxLength": REASON_LIMIT}}
    if rubric.criteria:
        properties["criteria"] = _object(dict.fromkeys(rubric.criteria, level))
    properties["level"] = level
    return _object(properties)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def parse_verdict(text: str, rubric: Rubric, finish: str = "stop") -> ParsedVerdict:
    """Read a verdict from a reply.

    A leading ``<think>`` block is taken off, also where only its end is there; Markdown fences and chatter
    may stand round the one JSON object, but no other brace. Labels may differ in case and in surrounding
    blanks.

    Args:
        text: The reply.
        rubric: Whose labels and criteria count.
        finish: Why the server stopped.

    Raises:
        JudgeError: No verdict; its status says why: ``truncated``, ``refused``, ``off_scale`` (a level that
            the rubric does not have) or ``parse_error``; ``raw`` is the reply.

    Examples:
        >>> from hengwen.prompts import load_rubric
        >>> rubric = load_rubric("lyric_craft")
        >>> criteria = '{"theme": "a", "imagery": "B", "fluency": "B", "singability": "C"}'
        >>> reply = 'Sure: {"reason": "fine", "criteria": ' + criteria + ', "level": " b "}'
        >>> parse_verdict(reply, rubric).level
        'B'
    """
    try:
        return _parse(text, rubric, finish)
    except JudgeError as error:
        error.raw = text
        raise


def _parse(text: str, rubric: Rubric, finish: str) -> ParsedVerdict:
    if finish == "length":
        raise _unusable("truncated", "the reply was cut off at the token limit; raise max_tokens")
    if finish == "content_filter":
        raise _unusable("refused", "the reply was withheld by a content filter")
    answer = strip_thinking(text)
    if answer is None:
        raise _unusable("truncated", "the reply stops inside <think>; raise max_tokens")
    found = _verdict_object(answer)
    _same_keys("the verdict", found, _KEYS if rubric.criteria else _KEYS_WITHOUT_CRITERIA)
    reason, criteria = found["reason"], found.get("criteria", {})
    if not isinstance(reason, str):
        raise _unusable("parse_error", f"reason must be text, got {_shown(reason)}")
    if not isinstance(criteria, dict):
        raise _unusable("parse_error", f"criteria must be an object, got {_shown(criteria)}")
    _same_keys("criteria", criteria, rubric.criteria)
    return ParsedVerdict(
        reason=reason.strip().encode("utf-8", "replace").decode(),
        level=_label("level", found["level"], rubric),
        criteria={name: _label(name, criteria[name], rubric) for name in rubric.criteria},
    )


def _verdict_object(answer: str) -> dict[str, Any]:
    try:
        return _only_object(answer)
    except JudgeError:
        said = after_thinking(answer)
        if said is None:
            raise
    return _only_object(said)


def _only_object(text: str) -> dict[str, Any]:
    start = text.find("{")
    if start < 0:
        raise _unusable("parse_error", "the reply holds no JSON object")
    try:
        found, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise _unusable("parse_error", "the reply nests too deeply") from None
    except ValueError as error:
        raise _unusable("parse_error", f"the reply is not valid JSON: {error}") from None
    if "{" in text[end:] or "}" in text[:start] + text[end:]:
        raise _unusable("parse_error", "the reply holds more than one JSON object, or stray braces")
    assert isinstance(found, dict)
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key repeats")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, strict=False)


def _same_keys(where: str, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    if found.keys() == wanted.keys():
        return
    missing = [name for name in wanted if name not in found]
    if missing:
        raise _unusable("parse_error", f"{where} lacks {', '.join(missing)}")
    extra = [name for name in found if name not in wanted]
    raise _unusable("parse_error", f"{where} has unknown keys: {', '.join(map(_shown, extra[:5]))}")


def _label(where: str, value: object, rubric: Rubric) -> str:
    if isinstance(value, str) and value in rubric.labels:
        return value
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _unusable("parse_error", f"{where} must be a label, got {_shown(value)}")
    if isinstance(value, str):
        for label in rubric.labels:
            if label.casefold() == value.strip().casefold():
                return label
    raise _unusable("off_scale", f"{where} is {_shown(value)}, known: {', '.join(rubric.labels)}")


def _shown(value: object) -> str:
    text = f"a {type(value).__name__}" if isinstance(value, (dict, list)) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _unusable(status: str, message: str) -> JudgeError:
    return JudgeError(message, status=status)

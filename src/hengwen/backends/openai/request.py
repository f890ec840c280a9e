"""The body of a chat completion, written fast: what repeats from call to call is encoded once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson

from hengwen.errors import ConfigError
from hengwen.io.text_safety import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.records import Message, Request

OURS = ("messages", "model", "response_format", "stream")
"""Parameters that a plan may not set."""
TOOL = "verdict"
"""What the schema, or the tool, is called."""
KEPT = 256
"""Encoded ends of bodies that are kept."""

# parameters are checked as JSON's own encoder has it: orjson, which writes the turns, makes null of NaN
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


class ChatRequestEncoder:
    """Writes the bodies of one backend.

    Args:
        model: As the endpoint calls it.
        params: Of the backend; those of a request go over them.
        limits: Whether ``maxLength`` may be sent: OpenAI's own strict mode refuses it.

    Examples:
        >>> from hengwen.records import Request
        >>> body = ChatRequestEncoder("m", {"temperature": 0}, limits=True)
        >>> body.write(Request(messages=(("user", "你好"),)), "", None).decode()
        '{"model":"m","messages":[{"role":"user","content":"你好"}],"temperature":0}'
    """

    def __init__(self, model: str, params: Mapping[str, Any], *, limits: bool) -> None:
        self._head = replace_surrogates(f'{{"model":{_encode(model)},"messages":').encode()
        self._params = checked_params(params)
        self._limits = limits
        self._ends: dict[tuple[object, ...], tuple[object, bytes]] = {}

    def write(self, request: Request, form: str, logprobs: int | None) -> bytes:
        """Return the body of a request.

        A ``seed`` grows by 1 with each repeat: else an endpoint that obeys it would repeat itself.

        Args:
            request: What is asked.
            form: How its schema is sent.
            logprobs: Alternatives to ask for at each token.
        """
        try:
            turns = _turns(request.messages)
        except orjson.JSONEncodeError:  # lone surrogates, which no body can carry
            turns = _turns([(role, replace_surrogates(content)) for role, content in request.messages])
        return self._head + turns + self._end(request, form, logprobs)

    def _end(self, request: Request, form: str, logprobs: int | None) -> bytes:
        if request.params:
            return self._write_end(request, form, logprobs)
        repeat = request.repeat if "seed" in self._params else 1
        key = (id(request.schema), form, logprobs, repeat)
        found = self._ends.get(key)
        if found is None:
            if len(self._ends) >= KEPT:
                self._ends.clear()
            # the schema is kept too: while it lives, no other object has its id
            found = self._ends[key] = (request.schema, self._write_end(request, form, logprobs))
        return found[1]

    def _write_end(self, request: Request, form: str, logprobs: int | None) -> bytes:
        params = {**self._params, **checked_params(request.params)}
        seed = params.get("seed")
        if request.repeat > 1 and isinstance(seed, int) and not isinstance(seed, bool):
            params["seed"] = seed + request.repeat - 1
        if logprobs is not None:
            params |= {"logprobs": True, "top_logprobs": logprobs}
        if request.schema is not None:
            params |= _structure(request.schema if self._limits else without_limits(request.schema), form)
        text = "".join(f",{_encode(name)}:{_encode(value)}" for name, value in params.items()) + "}"
        return replace_surrogates(text).encode()


def checked_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return sampling parameters as they are.

    Raises:
        ConfigError: One is not for the plan to set, or cannot be written as JSON.
    """
    for name, value in params.items():
        if name in OURS:
            raise ConfigError(f"params may not set {name!r}: the backend does")
        try:
            _encode(value)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"params: {name!r} cannot be sent: {error}") from None
    return dict(params)


def without_limits(schema: Any) -> Any:
    """Return a schema without ``maxLength``.

    Examples:
        >>> without_limits({"type": "string", "maxLength": 9})
        {'type': 'string'}
    """
    if isinstance(schema, dict):
        return {key: without_limits(value) for key, value in schema.items() if key != "maxLength"}
    return schema


def _turns(messages: Sequence[Message]) -> bytes:
    return orjson.dumps([{"role": role, "content": content} for role, content in messages])


def _structure(schema: Mapping[str, Any], form: str) -> dict[str, Any]:
    if form == "json_schema":
        said = {"name": TOOL, "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": said}}
    if form == "json_object":
        return {"response_format": {"type": "json_object"}}
    if form == "tool":
        function = {"name": TOOL, "description": "Give the verdict.", "parameters": schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": TOOL}},
        }
    return {}

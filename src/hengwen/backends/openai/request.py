"""Encode the requests of OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from hengwen.backends.parameters import (
    SCHEMA_NAME,
    call_params,
    checked_params,
    encode,
    without_limits,
)
from hengwen.records import Message, Request
from hengwen.text.safety import replace_surrogates

MAX_CACHED_ENDS = 256
"""Maximum number of cached request ends (the part of a body after the messages)."""


class ChatRequestEncoder:
    """Encode the request bodies of one backend."""

    def __init__(self, model: str, params: Mapping[str, Any], *, limits: bool) -> None:
        self._head = replace_surrogates(f'{{"model":{encode(model)},"messages":').encode()
        self._params = checked_params(params)
        self._limits = limits
        self._ends: dict[tuple[object, ...], tuple[object, bytes]] = {}

    def encode(self, request: Request, response_format: str, logprobs: int | None) -> bytes:
        """Return the body of a request."""
        try:
            messages = _encode_messages(request.messages)
        except orjson.JSONEncodeError:  # orjson refuses lone surrogates
            messages = _encode_messages(
                [(role, replace_surrogates(content)) for role, content in request.messages]
            )
        return self._head + messages + self._end(request, response_format, logprobs)

    def _end(self, request: Request, response_format: str, logprobs: int | None) -> bytes:
        """Return the part of the body after the messages, from the cache if the request has no parameters."""
        if request.params:
            return self._encode_end(request, response_format, logprobs)
        repeat = request.repeat if "seed" in self._params else 1
        cache_key = (id(request.schema), response_format, logprobs, repeat)
        cached = self._ends.get(cache_key)
        if cached is None:
            if len(self._ends) >= MAX_CACHED_ENDS:
                self._ends.clear()
            # the cache entry holds the schema, so that no other object can get the same id()
            cached = (request.schema, self._encode_end(request, response_format, logprobs))
            self._ends[cache_key] = cached
        return cached[1]

    def _encode_end(self, request: Request, response_format: str, logprobs: int | None) -> bytes:
        params = self._params | call_params(self._params, request, logprobs)
        if request.schema is not None:
            schema = request.schema if self._limits else without_limits(request.schema)
            params |= _schema_params(schema, response_format)
        text = "".join(f",{encode(name)}:{encode(value)}" for name, value in params.items()) + "}"
        return replace_surrogates(text).encode()


def _encode_messages(messages: Sequence[Message]) -> bytes:
    return orjson.dumps([{"role": role, "content": content} for role, content in messages])


def _schema_params(schema: Mapping[str, Any], response_format: str) -> dict[str, Any]:
    if response_format == "json_schema":
        json_schema = {"name": SCHEMA_NAME, "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": json_schema}}
    if response_format == "json_object":
        return {"response_format": {"type": "json_object"}}
    if response_format == "tool":
        function = {"name": SCHEMA_NAME, "description": "Give the verdict.", "parameters": schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": SCHEMA_NAME}},
        }
    return {}

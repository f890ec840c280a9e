"""Encode requests, also as lines of batch files (those of OpenAI and ``vllm run-batch``); decode replies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import orjson

from hengwen.backends.http.errors import MAX_RAW, message_of_error_body, redact, status_error
from hengwen.backends.openai.reply import read_reply
from hengwen.backends.parameters import (
    SCHEMA_NAME,
    call_params,
    checked_params,
    encode,
    without_limits,
)
from hengwen.errors import BackendError
from hengwen.io.untrusted_json import parse_json
from hengwen.text.safety import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.backends.parameters import SchemaModes
    from hengwen.records import Message, Reply, Request

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


ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"
MAX_ID = 64
"""Maximum number of characters of a ``custom_id``."""
EXPIRED_CODES = ("batch_expired", "batch_cancelled")
"""Error codes of requests that were not executed before the batch ended."""
SERVER_ERROR = 500


class BatchLine(NamedTuple):
    """A decoded line of an output or error file."""

    custom_id: str
    status: int | None
    """HTTP status of the call; None if the request was not executed."""
    body: object
    """Body of the HTTP answer, or the error."""


def read_line(raw: bytes) -> BatchLine | None:
    """Decode a line of an output or error file."""
    try:
        value = parse_json(raw)
    except ValueError:
        return None
    custom_id = value.get("custom_id") if isinstance(value, dict) else None
    if not isinstance(custom_id, str) or not 0 < len(custom_id) <= MAX_ID:
        return None
    response, error = value.get("response"), value.get("error")
    if not isinstance(response, dict):
        return BatchLine(custom_id, None, error)
    status, body = response.get("status_code"), response.get("body")
    if not isinstance(status, int) or isinstance(status, bool):
        status = SERVER_ERROR if error else 200
    return BatchLine(custom_id, status, error if body is None else body)


class BatchLines:
    """Encode requests and decode replies of one backend."""

    def __init__(
        self, encoder: ChatRequestEncoder, schema_modes: SchemaModes, secrets: Sequence[str], api_key_env: str
    ) -> None:
        self._encoder = encoder
        self.schema_modes = schema_modes
        self._secrets = tuple(secrets)
        self._api_key_env = api_key_env

    def encode(self, custom_id: str, request: Request) -> tuple[bytes, str, int | None]:
        """The line of a request, its response format, and the number of log-probabilities requested."""
        response_format, logprobs = self.schema_modes.of(request)
        body = self._encoder.encode(request, response_format, logprobs)
        head = f'{{"custom_id":"{custom_id}","method":"POST","url":"{ENDPOINT}","body":'
        return head.encode() + body + b"}\n", response_format, logprobs

    def decode(self, line: BatchLine, response_format: str) -> Reply:
        """Return the reply in a line."""
        if line.status is None:
            raise self._error_of(line.body)
        if line.status < 300:
            return read_reply(line.body, 0.0, self._secrets, response_format=response_format, logprobs=True)
        raise status_error(
            line.status,
            {},
            line.body if isinstance(line.body, str) else json.dumps(line.body, ensure_ascii=False),
            secrets=self._secrets,
            api_key_env=self._api_key_env,
        )

    def _error_of(self, error: object) -> BackendError:
        words = redact(message_of_error_body({"error": error}), self._secrets) or "no message"
        code: Any = error.get("code") if isinstance(error, dict) else None
        text = redact(replace_surrogates(json.dumps(error, ensure_ascii=False)), self._secrets)
        return BackendError(
            f"the batch did not execute this request: {words}",
            status="timeout" if code in EXPIRED_CODES else "transport_error",
            raw=text[:MAX_RAW],
            retryable=True,
        )

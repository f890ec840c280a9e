"""Backend for OpenAI and compatible endpoints."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from time import perf_counter
from typing import Any

import orjson

from hengwen.backends.http import (
    MAX_RAW,
    NO_KEY,
    Endpoint,
    HttpTransport,
    causes_of,
    message_of_error_body,
    no_answer_in_time,
    redact,
    status_error,
    validate_url,
    without_secrets,
)
from hengwen.backends.parameters import (
    SCHEMA_NAME,
    SchemaModes,
    backend_signature,
    call_params,
    checked_params,
    encode,
    without_limits,
)
from hengwen.errors import BackendError, ConfigError
from hengwen.io.untrusted_json import parse_json
from hengwen.records import Message, Reply, Request, Usage
from hengwen.text.numbers import replace_surrogates

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


MAX_COUNT = 2**53
"""Token counts of this size or more are ignored as wrong."""

Alternative = tuple[bytes, float]
"""A token that the model could have chosen: (bytes, log-probability)."""
Token = tuple[bytes, float, tuple[Alternative, ...]]
"""A token that the model chose: (bytes, log-probability, alternatives)."""


def read_reply(
    body: object,
    latency: float = 0.0,
    secrets: Iterable[str] = (),
    *,
    response_format: str = "",
    logprobs: bool = False,
) -> Reply:
    """Return the reply in a decoded body."""
    secrets = tuple(secrets)
    choice = _first_choice(body)
    message = choice.get("message") if choice is not None else None
    if choice is None or not isinstance(message, dict):
        words = redact(message_of_error_body(body), secrets)
        problem = (
            f"the endpoint answered with an error: {words}" if words else "the reply is no chat completion"
        )
        raise BackendError(problem, raw=raw_body(body, secrets), retryable=True)
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        raise BackendError("the model refused to answer", status="refused", raw=raw_body(body, secrets))
    arguments = _tool_arguments(message.get("tool_calls")) if response_format == "tool" else None
    text = arguments or _text(message.get("content"))
    if text is None:
        raise BackendError("the reply holds no text", raw=raw_body(body, secrets), retryable=True)
    assert isinstance(body, dict)
    return Reply(
        text=redact(text, secrets),
        model=redact(text_or_empty(body.get("model")), secrets),
        usage=read_usage(body.get("usage"), "prompt_tokens", "completion_tokens"),
        latency=latency,
        finish=redact(text_or_empty(choice.get("finish_reason")), secrets) or "stop",
        response_format=response_format,
        logprobs=read_logprobs(choice.get("logprobs")) if logprobs else None,
    )


def _first_choice(body: object) -> dict[str, Any] | None:
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _text(content: object) -> str | None:
    """Return the text of a message's content, which is a string or a list of parts; None if it is neither."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    return replace_surrogates(content) if isinstance(content, str) else None


def _tool_arguments(calls: object) -> str | None:
    """Return the arguments of all tool calls as one text, with one line per call."""
    if not isinstance(calls, list):
        return None
    functions = [call.get("function") for call in calls if isinstance(call, dict)]
    arguments = [function.get("arguments") for function in functions if isinstance(function, dict)]
    lines = [
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in arguments
    ]
    return replace_surrogates("\n".join(lines))


def text_or_empty(value: object) -> str:
    """Return a text without lone surrogates; "" for anything else."""
    return replace_surrogates(value) if isinstance(value, str) else ""


def read_usage(usage: object, input_tokens: str, output_tokens: str) -> Usage:
    """Return the tokens of one call from the fields with these names."""
    counts: Mapping[str, Any] = usage if isinstance(usage, dict) else {}
    return Usage(
        calls=1,
        input_tokens=_count(counts.get(input_tokens)),
        output_tokens=_count(counts.get(output_tokens)),
    )


def _count(value: object) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_COUNT
    return value if isinstance(value, int) and is_count else 0


def raw_body(body: object, secrets: Iterable[str]) -> str:
    """Return the body of a reply as it is kept with a failure: cut, and without secrets."""
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)
    return redact(replace_surrogates(text), secrets)[:MAX_RAW]


def read_logprobs(value: object) -> tuple[Token, ...] | None:
    """Read the field ``logprobs`` of a choice (one reply of a chat completion)."""
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(content, list) or not content:
        return None
    try:
        return tuple(
            (*_alternative(entry), tuple([_alternative(other) for other in entry.get("top_logprobs") or ()]))
            for entry in content
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _alternative(entry: dict[str, Any]) -> Alternative:
    raw_bytes, logprob = entry.get("bytes"), float(entry["logprob"])
    if isnan(logprob):
        raise ValueError("a log-probability is not a number")
    if isinstance(raw_bytes, list):
        return bytes(raw_bytes), logprob
    return entry["token"].encode("utf-8", "surrogatepass"), logprob


STAINLESS_HEADER_PREFIX = "X-Stainless-"
"""Prefix of headers that describe the platform and the Python version; these headers are not sent."""
DEFAULT_BASE_URL = "https://api.openai.com/v1"
CHAT_PATH = "chat/completions"


class OpenAIBackend:
    """Call an endpoint with OpenAI's chat completions API.

    A JSON schema for the reply is sent as strict ``json_schema``. If the endpoint refuses ``json_schema``,
    the next format is tried: ``json_object``, then a tool, then no schema at all. The backend remembers the
    format that works and states it in ``Reply.response_format``.

    Args:
        model: Name of the model at the endpoint.
        base_url: URL of the endpoint; default: the variable ``OPENAI_BASE_URL``, else OpenAI's own URL.
        api_key_env: Name of the environment variable that holds the key.
        params: Sampling parameters. They are sent unchanged, except that repeats of the same request get
            ``seed`` + 1, ``seed`` + 2 and so on.
        timeout: Seconds for one call in total, > 0.
        structured: Response format to use without trying others: ``json_schema``, ``json_object``, ``tool``
            or ``text``.
        check_key: Whether a missing key is an error when the backend is built; False for a dry run, which
            sends nothing.

    Raises:
        ConfigError: The key for OpenAI's own endpoint is missing, or an argument is invalid.

    Examples:
        >>> url = "http://me:pw@localhost:1/v1?k=v"
        >>> backend = OpenAIBackend(model="tiny", base_url=url, params={"temperature": 0})
        >>> backend.signature, backend.endpoint
        ('openai/tiny|temp:0', 'http://localhost:1/v1')
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        params: Mapping[str, Any] | None = None,
        timeout: float = 120.0,
        structured: str | None = None,
        check_key: bool = True,
    ) -> None:
        if not model.strip():
            raise ConfigError("no model: name one in the plan")
        if not timeout > 0:
            raise ConfigError(f"timeout must be above 0 seconds, got {timeout}")
        self.model = model
        self.api_key_env = api_key_env
        self.params = dict(params or {})
        self.timeout = timeout
        self._base_url = validate_url(base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL)
        self.endpoint = without_secrets(self._base_url)
        """Base URL without user, password and query."""
        self._access = Endpoint(self._base_url, api_key_env)
        is_hosted = api_key_env not in {"", "OPENAI_API_KEY"} and self._base_url.startswith("https://")
        if check_key and not self._access.key and (is_hosted or self._base_url == DEFAULT_BASE_URL):
            raise ConfigError(f"no API key: set {api_key_env}")
        self._transport: HttpTransport | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._schema_modes = SchemaModes(structured)
        self.signature = backend_signature("openai", model, self.params, structured)
        """Text with provider, model and parameters; the parameters are sorted by name."""
        is_openai = self.endpoint.startswith(DEFAULT_BASE_URL)
        self._encoder = ChatRequestEncoder(model, self.params, limits=not is_openai)

    def __repr__(self) -> str:
        return f"OpenAIBackend({self.signature!r}, endpoint={self.endpoint!r})"

    async def complete(self, request: Request) -> Reply:
        """Send a request; resend it only if the endpoint refuses the response format or log-probabilities.

        Args:
            request: Request to send; its ``params`` override the parameters of the backend.

        Raises:
            BackendError: There is no usable reply; ``retryable`` and ``retry_after`` state whether and when
                to retry.
        """
        while True:
            response_format, logprobs = self._schema_modes.of(request)
            body = self._encoder.encode(request, response_format, logprobs)
            started_at = perf_counter()
            status, headers, answer = await self._post(body)
            if status < 300:
                return read_reply(
                    answer,
                    perf_counter() - started_at,
                    self._access.secrets,
                    response_format=response_format,
                    logprobs=logprobs is not None,
                )
            error = self._status_error(status, headers, answer)
            if not self._schema_modes.downgrade_on(status, error, response_format, logprobs):
                raise error

    def batch_line(self, custom_id: str, request: Request) -> bytes:
        """Return a request as a line of OpenAI's Batch API, which ``vllm run-batch`` reads too."""
        body = self._encoder.encode(request, *self._schema_modes.of(request))
        head = f'{{"custom_id":"{custom_id}","method":"POST","url":"/v1/{CHAT_PATH}","body":'
        return head.encode() + body + b"}\n"

    def batch_reply(self, request: Request, line: Mapping[str, Any]) -> Reply:
        """Return the reply that the Batch API wrote for a request.

        Raises:
            BackendError: The call failed, or its line has no usable reply.
        """
        response_format, logprobs = self._schema_modes.of(request)
        response, error = line.get("response"), line.get("error")
        if not isinstance(response, dict):  # for example, the batch expired before this request
            words = redact(message_of_error_body({"error": error}), self._access.secrets)
            raw = raw_body(error, self._access.secrets)
            raise BackendError(f"the batch did not execute this request: {words or raw}", raw=raw)
        status, body = response.get("status_code"), response.get("body")
        if error and body is None:
            body = error
        if isinstance(status, int) and status >= 300:
            answer = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
            raise self._status_error(status, {}, answer)
        return read_reply(
            body, 0.0, self._access.secrets, response_format=response_format, logprobs=logprobs is not None
        )

    async def _post(self, body: bytes) -> tuple[int, Mapping[str, str], object]:
        """Send an encoded body; return status and headers, and the decoded answer or the error text."""
        from aiohttp import ClientError

        try:
            status, headers, answer = await self._connect().post(body)
            return status, headers, parse_json(answer) if status < 300 else answer.decode(errors="replace")
        except (ClientError, OSError) as error:
            raise self._connection_error(error) from None
        except ValueError as error:
            text = replace_surrogates(getattr(error, "doc", None) or "")
            raw = redact(text, self._access.secrets)[:MAX_RAW]
            problem = "is not JSON" if raw else f"cannot be read: {error}"
            raise BackendError(f"the reply {problem}", raw=raw, retryable=True) from None

    def _status_error(self, status: int, headers: Mapping[str, str], answer: object) -> BackendError:
        return status_error(
            status, headers, str(answer), secrets=self._access.secrets, api_key_env=self.api_key_env
        )

    def _connection_error(self, error: BaseException) -> BackendError:
        causes = list(causes_of(error))
        if any(isinstance(cause, TimeoutError) for cause in causes):
            return no_answer_in_time(self.endpoint, self.timeout)
        words = redact(str(causes[-1]), self._access.secrets) or type(causes[-1]).__name__
        return BackendError(f"no answer from {self.endpoint}: {words}", retryable=True)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.close()

    def _connect(self) -> HttpTransport:
        """Return the HTTP connections of the running event loop; ``openai`` builds their URL and headers."""
        loop = asyncio.get_running_loop()
        if self._transport is None or self._loop is not loop:
            from httpx2 import AsyncBaseTransport, AsyncClient
            from openai import AsyncOpenAI

            from hengwen.backends.http import HttpTransport

            access = self._access = Endpoint(self._base_url, self.api_key_env)
            client = AsyncOpenAI(
                api_key=access.key or NO_KEY,
                base_url=access.url,
                default_headers=access.headers,
                http_client=AsyncClient(
                    transport=AsyncBaseTransport(), trust_env=False
                ),  # this client never sends a request
            )
            client_headers = {**client.auth_headers, **client.default_headers}
            headers = {
                name: value
                for name, value in client_headers.items()
                if isinstance(value, str) and not name.startswith(STAINLESS_HEADER_PREFIX)
            }
            self._loop = loop
            self._transport = HttpTransport(
                f"{str(client.base_url).rstrip('/')}/{CHAT_PATH}",
                headers=headers,
                query=access.query,
                proxy=access.proxy,
                timeout=self.timeout,
            )
        return self._transport

"""Backend for any OpenAI-compatible endpoint. Each request is sent once; the engine decides on retries.

Requests are encoded here and sent with aiohttp: the models of the ``openai`` package would double the CPU
time of a judgment. Its client only provides the URL and the headers.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from hengwen.backends.http.endpoint import NO_KEY, Endpoint, validate_url, without_secrets
from hengwen.backends.http.errors import (
    MAX_RAW,
    causes_of,
    message_of_error_body,
    no_answer_in_time,
    redact,
    status_error,
)
from hengwen.backends.http.transport import HttpTransport
from hengwen.backends.openai.reply import raw_body, read_reply
from hengwen.backends.openai.request import ChatRequestEncoder
from hengwen.backends.parameters import SchemaModes, backend_signature
from hengwen.errors import BackendError, ConfigError
from hengwen.io.untrusted_json import parse_json
from hengwen.records import Reply, Request
from hengwen.text.safety import replace_surrogates

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

            from hengwen.backends.http.transport import HttpTransport

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

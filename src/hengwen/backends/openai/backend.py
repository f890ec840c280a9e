"""Backend for any OpenAI-compatible endpoint. Each request is sent once; the engine decides on retries.

Hengwen encodes requests itself and sends them with aiohttp. With the client of the ``openai`` package, which
builds pydantic models of each request and reply, a judgment would take 1.5 ms of CPU time instead of 0.7 ms.
The ``openai`` client only provides the URL and the headers: authentication, user agent, organization
(``OPENAI_ORG_ID``) and project (``OPENAI_PROJECT_ID``).
"""

from __future__ import annotations

import asyncio
import os
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hengwen.backends.http.endpoint import NO_KEY, Endpoint, validate_url, without_secrets
from hengwen.backends.http.errors import MAX_RAW, redact, status_error
from hengwen.backends.openai.batch_client import BatchClient
from hengwen.backends.openai.batch_lines import BatchLines
from hengwen.backends.openai.reply import read_reply
from hengwen.backends.openai.request import ChatRequestEncoder
from hengwen.backends.parameters import backend_signature
from hengwen.backends.schema_modes import SchemaModes
from hengwen.errors import BackendError, ConfigError
from hengwen.io.untrusted_json import parse_json
from hengwen.text.safety import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.backends.http.transport import HttpTransport
    from hengwen.records import Reply, Request

STAINLESS_HEADER_PREFIX = "X-Stainless-"
"""Prefix of headers that describe the platform and the Python version; these headers are not sent."""
DEFAULT_BASE_URL = "https://api.openai.com/v1"


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
            raise ConfigError("backend needs a model: name one in the plan")
        if not timeout > 0:
            raise ConfigError(f"timeout must be above 0 seconds, got {timeout}")
        self.model = model
        self.api_key_env = api_key_env
        self.params = dict(params or {})
        self.timeout = timeout
        self._base_url = validate_url(base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL)
        self._schema_modes = SchemaModes(structured)
        self.endpoint = without_secrets(self._base_url)
        """Base URL without user, password and query."""
        self.signature = backend_signature("openai", model, self.params, structured)
        """Text with provider, model and parameters; the parameters are sorted by name."""
        is_openai = self.endpoint.startswith(DEFAULT_BASE_URL)
        self._encoder = ChatRequestEncoder(model, self.params, limits=not is_openai)
        self._access = Endpoint(self._base_url, api_key_env)
        if check_key and not self._access.key and self._base_url == DEFAULT_BASE_URL:
            raise ConfigError(f"backend needs a key: set {api_key_env}")
        self._transport: HttpTransport | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

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
            response_format = self._schema_modes.current if request.schema is not None else ""
            logprobs = request.logprobs if self._schema_modes.takes_logprobs else None
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
            error = status_error(
                status,
                headers,
                str(answer),
                secrets=self._access.secrets,
                api_key_env=self.api_key_env,
            )
            if not self._schema_modes.downgrade_on(status, error, response_format, logprobs):
                raise error

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

    def _connection_error(self, error: BaseException) -> BackendError:
        causes = [error]
        while (cause := causes[-1].__cause__) is not None:
            causes.append(cause)
        if any(isinstance(cause, TimeoutError) for cause in causes):
            message = f"no answer from {self.endpoint} within {self.timeout:g} s"
            return BackendError(message, status="timeout", retryable=True)
        words = redact(str(causes[-1]), self._access.secrets) or type(causes[-1]).__name__
        return BackendError(f"no answer from {self.endpoint}: {words}", retryable=True)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.close()

    def batch_lines(self) -> BatchLines:
        """Return the encoder and decoder of lines of batch files; they use this backend's response format."""
        return BatchLines(self._encoder, self._schema_modes, self._access.secrets, self.api_key_env)

    def batch_client(self) -> BatchClient:
        """Return a client of the batch endpoint of the same server."""
        return BatchClient(self._base_url, self.api_key_env, self.timeout)

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
                f"{str(client.base_url).rstrip('/')}/chat/completions",
                headers=headers,
                query=access.query,
                proxy=access.proxy,
                timeout=self.timeout,
            )
        return self._transport

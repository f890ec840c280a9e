"""What the backends of OpenAI's endpoints share: address, key, connections, and the errors of a call.

Requests are encoded here and sent with aiohttp: the models of the ``openai`` package would double the CPU
time of a judgment. Its client only provides the URL and the headers.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, ClassVar

from hengwen.backends.http.endpoint import NO_KEY, Endpoint, validate_url, without_secrets
from hengwen.backends.http.errors import MAX_RAW, causes_of, no_answer_in_time, redact, status_error
from hengwen.errors import BackendError, ConfigError
from hengwen.io.untrusted_json import parse_json
from hengwen.text.safety import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.backends.http.transport import HttpTransport

STAINLESS_HEADER_PREFIX = "X-Stainless-"
"""Prefix of headers that describe the platform and the Python version; these headers are not sent."""
DEFAULT_BASE_URL = "https://api.openai.com/v1"


class OpenAIClient:
    """A model at an OpenAI-compatible server, and the connections to one path of its API."""

    path: ClassVar[str]
    """Path of the endpoint after the base URL."""
    signature: str
    """Text with provider, model and parameters; the parameters are sorted by name."""

    def __init__(
        self,
        model: str,
        base_url: str | None,
        api_key_env: str,
        params: Mapping[str, Any] | None,
        timeout: float,
        check_key: bool,
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

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.signature!r}, endpoint={self.endpoint!r})"

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
                f"{str(client.base_url).rstrip('/')}/{self.path}",
                headers=headers,
                query=access.query,
                proxy=access.proxy,
                timeout=self.timeout,
            )
        return self._transport

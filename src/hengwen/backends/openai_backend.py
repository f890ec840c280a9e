"""Any OpenAI-compatible endpoint. One try a call: whoever calls decides about retries."""

from __future__ import annotations

import asyncio
import json
import os
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from hengwen.backends.chat_reply import read_reply, storable
from hengwen.backends.http_errors import RAW_LIMIT, hide, status_error
from hengwen.errors import BackendError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openai import AsyncOpenAI

    from hengwen.records import Reply, Request

DEFAULT_BASE_URL = "https://api.openai.com/v1"
NO_KEY = "no-key"
"""Sent to endpoints of one's own that need none."""
SECRET_FROM = 8
"""Characters from which a key is a secret and not a word such as 'EMPTY'."""
OURS = ("messages", "model", "response_format", "stream")
"""Parameters that a plan may not set."""


class OpenAIBackend:
    """Asks an endpoint that speaks OpenAI's chat completions.

    Args:
        model: As the endpoint calls it.
        base_url: Of the endpoint; default: ``OPENAI_BASE_URL``, else OpenAI's own.
        api_key_env: The variable that holds the key. The key itself is never kept here.
        params: Sampling parameters, sent as they are.
        timeout: Seconds for one call, all told.

    Raises:
        ConfigError: There is no key for OpenAI's own endpoint, or a parameter is not for the plan to set.

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
    ) -> None:
        if not model.strip():
            raise ConfigError("backend needs a model: name one in the plan")
        if not timeout > 0:
            raise ConfigError(f"timeout must be above 0 seconds, got {timeout}")
        self.model = model
        self.api_key_env = api_key_env
        self.params = _checked(params or {})
        self.timeout = timeout
        self._base_url = _checked_url(base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL)
        if self._base_url == DEFAULT_BASE_URL and not _key(api_key_env):
            raise ConfigError(f"backend needs a key: set {api_key_env}")
        self._client: AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"OpenAIBackend({self.signature!r}, endpoint={self.endpoint!r})"

    @property
    def signature(self) -> str:
        """Provider, model and parameters in the order of their names."""
        shown = (f"{_SHORT.get(name, name)}:{_value(self.params[name])}" for name in sorted(self.params))
        return "|".join((f"openai/{self.model}", *shown))

    @property
    def endpoint(self) -> str:
        """The base URL without user, password and query."""
        return _without_secrets(self._base_url)

    async def complete(self, request: Request) -> Reply:
        """Ask once.

        Args:
            request: Its ``params`` go over those of the backend; a ``schema`` is sent as strict json_schema.

        Raises:
            BackendError: There is no usable reply; ``retryable`` and ``retry_after`` say what may help.
        """
        body = self._body(request)
        begin = perf_counter()
        answer = await self._post(body)
        return read_reply(answer, perf_counter() - begin, self._secrets())

    async def _post(self, body: dict[str, Any]) -> object:
        import aiohttp
        import openai

        client = self._connect()
        try:
            async with asyncio.timeout(self.timeout):
                return await client.post("/chat/completions", body=body, cast_to=object)
        except openai.APIStatusError as error:
            raise status_error(
                error.status_code,
                error.response.headers,
                error.response.text,
                secrets=self._secrets(),
                api_key_env=self.api_key_env,
            ) from None
        except (openai.OpenAIError, aiohttp.ClientError, OSError) as error:
            raise self._no_answer(error) from None
        except (ValueError, RecursionError) as error:
            raw = hide(getattr(error, "doc", None) or "", self._secrets())[:RAW_LIMIT]
            raise BackendError("the reply is not JSON", raw=raw, retryable=True) from None

    def _no_answer(self, error: BaseException) -> BackendError:
        causes = [error]
        while (cause := causes[-1].__cause__) is not None:
            causes.append(cause)
        if any(isinstance(cause, TimeoutError) for cause in causes):
            message = f"no answer from {self.endpoint} within {self.timeout:g} s"
            return BackendError(message, status="timeout", retryable=True)
        words = hide(str(causes[-1]), self._secrets()) or type(causes[-1]).__name__
        return BackendError(f"no answer from {self.endpoint}: {words}", retryable=True)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": role, "content": storable(content)} for role, content in request.messages],
            **self.params,
            **_checked(request.params),
        }
        if request.schema is not None:
            is_openai = self.endpoint.startswith(DEFAULT_BASE_URL)
            schema = _without_limits(request.schema) if is_openai else request.schema
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": True, "schema": schema},
            }
        return body

    def _connect(self) -> AsyncOpenAI:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            from openai import AsyncOpenAI, DefaultAioHttpClient

            self._loop = loop
            self._client = AsyncOpenAI(
                api_key=_key(self.api_key_env) or NO_KEY,
                base_url=self._base_url,
                timeout=self.timeout,
                max_retries=0,
                http_client=DefaultAioHttpClient(timeout=self.timeout, follow_redirects=False),
            )
        return self._client

    def _secrets(self) -> tuple[str, ...]:
        url = urlsplit(self._base_url)
        found = (_key(self.api_key_env), url.password or "", *(value for _, value in parse_qsl(url.query)))
        return tuple(secret for secret in found if len(secret) >= SECRET_FROM)


_SHORT = {"temperature": "temp"}


def _checked(params: Mapping[str, Any]) -> dict[str, Any]:
    for name in params:
        if name in OURS:
            raise ConfigError(f"params may not set {name!r}: the backend does")
    return dict(params)


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ConfigError("base_url must be an address such as http://localhost:8080/v1")
    return url


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def _key(variable: str) -> str:
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the key in {variable} holds characters that no key has; set it again")
    return key


def _value(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def _without_limits(schema: Any) -> Any:
    """Return a schema without ``maxLength``, which OpenAI's own strict mode refuses."""
    if isinstance(schema, dict):
        return {key: _without_limits(value) for key, value in schema.items() if key != "maxLength"}
    return schema

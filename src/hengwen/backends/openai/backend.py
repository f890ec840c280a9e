"""Any OpenAI-compatible endpoint. One try a call: whoever calls decides about retries."""

from __future__ import annotations

import asyncio
import json
import os
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hengwen.backends.http.endpoint import NO_KEY, Endpoint, validate_url, without_secrets
from hengwen.backends.http.errors import RAW_LIMIT, redact, status_error
from hengwen.backends.openai.reply import read_reply
from hengwen.backends.openai.request import ChatRequestEncoder
from hengwen.backends.openai.schema_modes import SchemaModes
from hengwen.errors import BackendError, ConfigError
from hengwen.io.text_safety import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.backends.http.transport import HttpTransport
    from hengwen.records import Reply, Request

ABOUT_THE_MACHINE = "X-Stainless-"
"""Headers that tell of platform and Python: no endpoint needs them."""
DEFAULT_BASE_URL = "https://api.openai.com/v1"


class OpenAIBackend:
    """Asks an endpoint that speaks OpenAI's chat completions.

    A schema is sent as strict ``json_schema``; where the endpoint says that it does not know that, as
    ``json_object``, then as a tool, then not at all. What it takes is remembered and told in ``Reply.form``.

    Args:
        model: As the endpoint calls it.
        base_url: Of the endpoint; default: ``OPENAI_BASE_URL``, else OpenAI's own.
        api_key_env: The variable that holds the key. The key itself is never kept here.
        params: Sampling parameters, sent as they are; but a ``seed`` grows by 1 with each repeat of a call.
        timeout: Seconds for one call, all told.
        structured: ``json_schema``, ``json_object``, ``tool`` or ``text``: this form and no other.

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
        structured: str | None = None,
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
        self._forms = SchemaModes(structured)
        self.endpoint = without_secrets(self._base_url)
        """The base URL without user, password and query."""
        self.signature = signature("openai", model, self.params, structured)
        """Provider, model and parameters in the order of their names."""
        is_openai = self.endpoint.startswith(DEFAULT_BASE_URL)
        self._body = ChatRequestEncoder(model, self.params, limits=not is_openai)
        self._access = Endpoint(self._base_url, api_key_env)
        if not self._access.key and self._base_url == DEFAULT_BASE_URL:
            raise ConfigError(f"backend needs a key: set {api_key_env}")
        self._line: HttpTransport | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"OpenAIBackend({self.signature!r}, endpoint={self.endpoint!r})"

    async def complete(self, request: Request) -> Reply:
        """Ask once.

        Args:
            request: Its ``params`` go over those of the backend.

        Raises:
            BackendError: There is no usable reply; ``retryable`` and ``retry_after`` say what may help.
        """
        while True:
            form = self._forms.form if request.schema is not None else ""
            logprobs = request.logprobs if self._forms.takes_logprobs else None
            body = self._body.write(request, form, logprobs)
            begin = perf_counter()
            status, headers, answer = await self._post(body)
            if status < 300:
                latency, asked = perf_counter() - begin, logprobs is not None
                return read_reply(answer, latency, self._access.secrets, form=form, logprobs=asked)
            error = status_error(
                status,
                headers,
                str(answer),
                secrets=self._access.secrets,
                api_key_env=self.api_key_env,
            )
            if not self._forms.moves_on(status, error, form, logprobs):
                raise error

    async def _post(self, body: bytes) -> tuple[int, Mapping[str, str], object]:
        """Send a written body; return status, headers, and the parsed answer or the text of an error."""
        from aiohttp import ClientError

        try:
            status, headers, answer = await self._connect().post(body)
            return status, headers, json.loads(answer) if status < 300 else answer.decode(errors="replace")
        except (ClientError, OSError) as error:
            raise self._no_answer(error) from None
        except (ValueError, RecursionError) as error:
            raw = redact(replace_surrogates(getattr(error, "doc", None) or ""), self._access.secrets)[
                :RAW_LIMIT
            ]
            raise BackendError("the reply is not JSON", raw=raw, retryable=True) from None

    def _no_answer(self, error: BaseException) -> BackendError:
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
        line, self._line = self._line, None
        if line is not None:
            await line.close()

    def _connect(self) -> HttpTransport:
        """The line to the endpoint in this loop.

        The openai client says where it goes and with which headers; its own calls would build models of
        what is asked and answered, and cost several times as much.
        """
        loop = asyncio.get_running_loop()
        if self._line is None or self._loop is not loop:
            from httpx2 import AsyncBaseTransport, AsyncClient
            from openai import AsyncOpenAI

            from hengwen.backends.http.transport import HttpTransport

            access = self._access = Endpoint(self._base_url, self.api_key_env)
            client = AsyncOpenAI(
                api_key=access.key or NO_KEY,
                base_url=access.url,
                default_headers=access.headers,
                http_client=AsyncClient(transport=AsyncBaseTransport(), trust_env=False),  # sends nothing
            )
            given = {**client.auth_headers, **client.default_headers}
            headers = {
                name: value
                for name, value in given.items()
                if isinstance(value, str) and not name.startswith(ABOUT_THE_MACHINE)  # else it is left out
            }
            self._loop = loop
            self._line = HttpTransport(
                f"{client.base_url}chat/completions",
                headers=headers,
                query=access.query,
                proxy=access.proxy,
                timeout=self.timeout,
            )
        return self._line


_SHORT = {"temperature": "temp"}


def signature(provider: str, model: str, params: Mapping[str, Any], structured: str | None = None) -> str:
    """Return all of a backend that can move a reply.

    Args:
        provider: Of the backend.
        model: As the endpoint calls it.
        params: Sampling parameters.
        structured: The form of structure, where the plan names one.

    Examples:
        >>> signature("openai", "m", {"temperature": 0.0, "max_tokens": 9}, "tool")
        'openai/m|max_tokens:9|temp:0|structured:tool'
    """
    shown = [f"{_SHORT.get(name, name)}:{_value(params[name])}" for name in sorted(params)]
    return "|".join((f"{provider}/{model}", *shown, *([f"structured:{structured}"] if structured else [])))


def _value(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)

"""Backend for any LangChain chat model, built by a user's function or by ``init_chat_model`` from a name."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from inspect import signature as parameters_of
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hengwen.backends.http import (
    MIN_SECRET_LENGTH,
    NO_KEY,
    Endpoint,
    api_key_from,
    causes_of,
    no_answer_in_time,
    redact,
    short_message,
    status_error,
    validate_url,
    without_secrets,
)
from hengwen.backends.openai import read_logprobs, read_reply, read_usage
from hengwen.backends.parameters import (
    SCHEMA_NAME,
    SchemaModes,
    backend_signature,
    call_params,
    checked_params,
    without_limits,
)
from hengwen.errors import BackendError, ConfigError, PluginError
from hengwen.records import Reply, Request
from hengwen.text.numbers import replace_surrogates

if TYPE_CHECKING:
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import BaseMessage


TRUNCATED_REASONS = ("length", "max_tokens", "max_output_tokens", "model_length")
"""Finish reasons with which providers report that the token limit was reached."""
FILTERED_REASONS = ("content_filter", "safety", "refusal", "prohibited_content", "blocklist", "recitation")
"""Finish reasons with which providers report that a content filter stopped the reply."""


def reply_of(
    message: BaseMessage, latency: float, secrets: Iterable[str], *, response_format: str, logprobs: bool
) -> Reply:
    """Return the reply in a message."""
    secrets = tuple(secrets)
    metadata: Mapping[str, Any] = message.response_metadata
    refusal = message.additional_kwargs.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        raise BackendError("the model refused to answer", status="refused", raw=redact(refusal, secrets))
    arguments = "\n".join(_tool_arguments(message)) if response_format else ""
    return Reply(
        text=redact(replace_surrogates(arguments or "".join(_texts(message.content))), secrets),
        model=redact(str(metadata.get("model_name") or metadata.get("model") or ""), secrets),
        usage=read_usage(getattr(message, "usage_metadata", None), "input_tokens", "output_tokens"),
        latency=latency,
        finish=_finish(metadata),
        response_format="tool" if arguments else response_format,
        logprobs=read_logprobs(metadata.get("logprobs")) if logprobs else None,
    )


def _texts(content: object) -> Iterator[str]:
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield text


def _tool_arguments(message: BaseMessage) -> Iterator[str]:
    """Yield the arguments of each tool call as text: the original text if the message has it, else JSON."""
    raw_calls = message.additional_kwargs.get("tool_calls")
    if isinstance(raw_calls, list) and raw_calls:
        for call in raw_calls:
            yield str(call.get("function", {}).get("arguments", ""))
        return
    for call in getattr(message, "tool_calls", ()):
        yield json.dumps(call["args"], ensure_ascii=False)
    for call in getattr(message, "invalid_tool_calls", ()):
        yield str(call["args"] or "")


def _finish(metadata: Mapping[str, Any]) -> str:
    names = ("finish_reason", "stop_reason", "done_reason")
    reason = str(next((metadata[name] for name in names if metadata.get(name)), "")).lower()
    if reason in TRUNCATED_REASONS:
        return "length"
    return "content_filter" if reason in FILTERED_REASONS else reason or "stop"


def truncated_reply(
    error: BaseException, latency: float, secrets: Iterable[str], response_format: str
) -> Reply | None:
    """Return the truncated reply that an error contains; None if the error contains none."""
    completion = getattr(error, "completion", None)
    dump = getattr(completion, "model_dump", None)
    return None if dump is None else read_reply(dump(), latency, secrets, response_format=response_format)


def error_of(
    error: Exception, *, endpoint: str, timeout: float, secrets: Iterable[str], api_key_env: str
) -> tuple[int, BackendError]:
    """Return the HTTP status of an exception (0 if it has none), and the matching BackendError."""
    secrets = tuple(secrets)
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    if isinstance(status, int) and 300 <= status < 600:
        headers = getattr(response, "headers", {})
        body = getattr(response, "text", None) or str(error)
        return status, status_error(status, headers, body, secrets=secrets, api_key_env=api_key_env)
    causes = list(causes_of(error))
    if isinstance(causes[-1], BackendError):  # of the limit of replies
        return 0, causes[-1]
    names = " ".join(type(cause).__name__ for cause in causes).lower()
    if "timeout" in names:
        return 0, no_answer_in_time(endpoint, timeout)
    if "contentfilter" in names:
        return 0, BackendError("the reply was withheld by a content filter", status="refused")
    words = short_message(redact(str(causes[-1]), secrets)) or type(causes[-1]).__name__
    is_transient = any(isinstance(cause, (OSError, json.JSONDecodeError)) for cause in causes)
    retryable = is_transient or "connect" in names
    kind = "" if retryable else f"{type(error).__name__}: "
    return 0, BackendError(f"no answer from {endpoint}: {kind}{words}", retryable=retryable)


LANGCHAIN_METHODS: Mapping[str, str] = {
    "json_schema": "json_schema",
    "json_object": "json_mode",
    "tool": "function_calling",
}
"""LangChain's name for each response format (the way in which a request sends its JSON schema)."""
OPENAI_KEY = "OPENAI_API_KEY"
MAX_CACHED_RUNNABLES = 256
"""Maximum number of LangChain runnables that are cached, one per schema, response format and parameters."""


class LangChainBackend:
    """Call a LangChain chat model. LangChain's tracing is off.

    Args:
        model: Name that is passed to ``init_chat_model``, such as ``openai:gpt-4o-mini``, or to the factory.
        factory: Function that returns a chat model, as ``package:function``. Its keyword arguments are
            ``model`` and ``base_url``, if they are set, and each item of ``params``.
        chat: Chat model to use instead of ``model`` and ``factory``.
        base_url: URL of an OpenAI-compatible endpoint.
        api_key_env: Name of the environment variable that holds the key. By default, OpenAI's is
            ``OPENAI_API_KEY``, and other providers read the variables that LangChain defines for them.
        params: Keyword arguments of the chat model, such as ``temperature``. Without a factory,
            ``max_retries`` is 0 unless ``params`` sets it, because the engine retries failed calls.
        timeout: Seconds for one call in total, > 0.
        structured: Response format to use without trying others: ``json_schema``, ``json_object``, ``tool``
            or ``text``.

    Raises:
        ConfigError: None of ``model``, ``factory`` and ``chat`` is set, or the chat model cannot be built.
        PluginError: The factory, or the package of a provider, cannot be loaded.

    Examples:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> from hengwen.records import Request
        >>> backend = LangChainBackend(chat=FakeListChatModel(responses=["yes"]), model="fake")
        >>> asyncio.run(backend.complete(Request(messages=(("user", "Well?"),)))).text
        'yes'
        >>> backend.signature
        'langchain/fake'
    """

    def __init__(
        self,
        *,
        model: str = "",
        factory: str | None = None,
        chat: BaseChatModel | None = None,
        base_url: str | None = None,
        api_key_env: str | None = None,
        params: Mapping[str, Any] | None = None,
        timeout: float = 120.0,
        structured: str | None = None,
    ) -> None:
        if chat is None and not factory and not model.strip():
            raise ConfigError("backend langchain needs a model (such as openai:gpt-4o-mini) or a factory")
        if not timeout > 0:
            raise ConfigError(f"timeout must be above 0 seconds, got {timeout}")
        self.params = checked_params(params or {})
        self.timeout = timeout
        self._base_url = validate_url(base_url) if base_url else None
        self._model = model
        provider, colon, _ = model.partition(":")
        self._is_openai = provider == "openai" if colon else base_url is not None
        usual_key = OPENAI_KEY if self._is_openai or factory else ""
        self.api_key_env = usual_key if api_key_env is None else api_key_env
        self._factory = factory
        self._chat = chat
        if self._is_openai and not factory and chat is None and find_spec("langchain_openai") is None:
            raise PluginError(
                "LangChain's chat models of OpenAI need the package langchain-openai: "
                "pip install 'hengwen[langchain-openai]', or use the provider openai instead"
            )
        self._is_ready = False
        self._http_client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._schema_modes = SchemaModes(structured)
        name = "/".join(part for part in (factory, model) if part) or type(chat).__name__
        self.signature = backend_signature("langchain", name, self.params, structured)
        self.endpoint = without_secrets(base_url) if base_url else f"langchain:{name}"
        self._runnables: dict[tuple[object, ...], tuple[object, Any]] = {}

    def __repr__(self) -> str:
        return f"LangChainBackend({self.signature!r}, endpoint={self.endpoint!r})"

    async def complete(self, request: Request) -> Reply:
        """Send a request; resend it only if the model refuses the response format or log-probabilities.

        Args:
            request: Request to send; its ``params`` override the parameters of the backend.

        Raises:
            BackendError: There is no usable reply; ``retryable`` and ``retry_after`` state whether and when
                to retry.
            ConfigError: The chat model cannot be built.
        """
        while True:
            chat = self._connect()
            response_format, logprobs = self._schema_modes.of(request)
            runnable = self._runnable(chat, request, response_format, logprobs)
            if runnable is None:
                continue
            started_at = perf_counter()
            try:
                message = await self._invoke(runnable, request)
                return reply_of(
                    message,
                    perf_counter() - started_at,
                    self._secrets(),
                    response_format=response_format,
                    logprobs=logprobs is not None,
                )
            except BackendError:
                raise
            except Exception as error:
                truncated = truncated_reply(
                    error, perf_counter() - started_at, self._secrets(), response_format
                )
                if truncated is not None:
                    return truncated
                status, failure = error_of(
                    error,
                    endpoint=self.endpoint,
                    timeout=self.timeout,
                    secrets=self._secrets(),
                    api_key_env=self.api_key_env,
                )
            if not self._schema_modes.downgrade_on(status, failure, response_format, logprobs):
                raise failure

    async def _invoke(self, runnable: Any, request: Request) -> BaseMessage:
        from langsmith import tracing_context

        messages = [(role, replace_surrogates(content)) for role, content in request.messages]
        with tracing_context(enabled=False):
            async with asyncio.timeout(self.timeout):
                answer = await runnable.ainvoke(messages)
        message: BaseMessage = answer["raw"] if isinstance(answer, dict) else answer
        return message

    def _runnable(
        self, chat: BaseChatModel, request: Request, response_format: str, logprobs: int | None
    ) -> Any:
        """Return LangChain's runnable for a request; None if the next response format must be tried."""
        params = call_params(self.params, request, logprobs)
        cache_key = (id(request.schema), response_format, repr(sorted(params.items())))
        cached = self._runnables.get(cache_key)
        if cached is None:
            try:
                runnable = self._structured(chat, request, response_format, params)
            except (NotImplementedError, TypeError, ValueError, AttributeError) as error:
                if not self._schema_modes.downgrade(response_format):
                    raise BackendError(
                        f"{self.endpoint} cannot be asked for {response_format or 'text'}: {error}"
                    ) from None
                return None
            if len(self._runnables) >= MAX_CACHED_RUNNABLES:
                self._runnables.clear()
            # the cache entry holds the schema, so that no other object can get the same id() while it is
            # cached
            cached = self._runnables[cache_key] = (request.schema, runnable)
        return cached[1]

    def _structured(
        self, chat: BaseChatModel, request: Request, response_format: str, params: dict[str, Any]
    ) -> Any:
        if response_format in ("", "text"):
            return chat.bind(**params) if params else chat
        assert request.schema is not None
        schema = {"title": SCHEMA_NAME, **request.schema}
        accepted = parameters_of(chat.with_structured_output).parameters
        if response_format != "json_object" and "strict" in accepted:
            params = {"strict": True, **params}
        if self._base_url is None and type(chat).__name__ == "ChatOpenAI":
            schema = without_limits(schema)
        method = LANGCHAIN_METHODS[response_format]
        return chat.with_structured_output(schema, method=method, include_raw=True, **params)

    def _connect(self) -> BaseChatModel:
        loop = asyncio.get_running_loop()
        if self._http_client is not None and self._loop is not loop:
            self._reset()  # connections work only in the event loop that opened them
        if not self._is_ready:
            from langchain_core.language_models.chat_models import BaseChatModel

            self._loop = loop
            self._chat = self._chat or self._build_chat()
            if type(self._chat).with_structured_output is BaseChatModel.with_structured_output:
                self._schema_modes.start_at("tool")  # the base class always uses tools
            self._is_ready = True
        assert self._chat is not None
        return self._chat

    def _build_chat(self) -> BaseChatModel:
        from langchain_core.language_models.chat_models import BaseChatModel

        base_url: dict[str, Any] = {"base_url": self._base_url} if self._base_url else {}
        try:
            if self._factory:
                model = {"model": self._model} if self._model else {}
                chat = _load_factory(self._factory)(**model, **base_url, **self.params)
            else:
                from langchain.chat_models import init_chat_model

                params = {"max_retries": 0, **self.params}
                chat = init_chat_model(self._model, **self._access(), **base_url, **params)
        except ImportError as error:
            raise PluginError(f"{self.signature}: {error}") from None
        except ConfigError:
            raise
        except Exception as error:
            words = str(error).replace(api_key_from(self.api_key_env) or "\0", "[hidden]")
            raise ConfigError(f"{self.signature}: the chat model cannot be built: {words}") from None
        if not isinstance(chat, BaseChatModel):
            raise ConfigError(
                f"factory {self._factory!r} must return a chat model, got {type(chat).__name__}"
            )
        return chat

    def _access(self) -> dict[str, Any]:
        """Return provider, key and an HTTP client for this event loop."""
        names_provider = ":" in self._model
        access: dict[str, Any] = (
            {"model_provider": "openai"} if self._is_openai and not names_provider else {}
        )
        if self.api_key_env:
            key = api_key_from(self.api_key_env) or (NO_KEY if self._base_url else "")
            access |= {"api_key": key} if key else {}
        if self._is_openai:
            from openai import DefaultAsyncHttpxClient

            from hengwen.backends.http import ENCODINGS, limit_body

            self._http_client = DefaultAsyncHttpxClient(
                timeout=self.timeout,
                follow_redirects=False,
                headers={"Accept-Encoding": ENCODINGS},
                event_hooks={"response": [limit_body]},
            )
            access["http_async_client"] = self._http_client
        return access

    def _secrets(self) -> tuple[str, ...]:
        candidates = [api_key_from(self.api_key_env)]
        if self._base_url:
            candidates += Endpoint(self._base_url, self.api_key_env).secrets
        for value in vars(self._chat).values() if self._chat is not None else ():
            reveal = getattr(value, "get_secret_value", None)
            if reveal is not None:
                candidates.append(str(reveal()))
        return tuple(secret for secret in dict.fromkeys(candidates) if len(secret) >= MIN_SECRET_LENGTH)

    async def close(self) -> None:
        """Close the HTTP client that this backend created; clients that a chat model created stay open."""
        client, loop = self._http_client, self._loop
        if client is not None:
            self._reset()
            if loop is asyncio.get_running_loop():
                await client.aclose()

    def _reset(self) -> None:
        self._http_client = self._chat = None
        self._is_ready = False
        self._runnables.clear()


def _load_factory(path: str) -> Any:
    module, colon, name = path.partition(":")
    if not colon or not module or not name:
        raise ConfigError(f"factory must be package:function, got {path!r}")
    try:
        return getattr(import_module(module), name)
    except AttributeError:
        raise ConfigError(f"factory {path!r}: {module} has no {name}") from None

"""Any LangChain chat model: by a factory of one's own, or by a name that ``init_chat_model`` knows."""

from __future__ import annotations

import asyncio
from importlib import import_module
from inspect import signature as parameters_of
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hengwen.backends.http.endpoint import NO_KEY, SECRET_FROM, api_key_from, validate_url, without_secrets
from hengwen.backends.langchain.reply import cut_reply, error_of, reply_of
from hengwen.backends.openai.backend import signature
from hengwen.backends.openai.request import TOOL, checked_params, without_limits
from hengwen.backends.openai.schema_modes import SchemaModes
from hengwen.errors import BackendError, ConfigError, PluginError
from hengwen.io.text_safety import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import BaseMessage

    from hengwen.records import Reply, Request

METHODS: Mapping[str, str] = {
    "json_schema": "json_schema",
    "json_object": "json_mode",
    "tool": "function_calling",
}
"""LangChain's names for the forms."""
DEFAULT_KEY = "OPENAI_API_KEY"


class LangChainBackend:
    """Asks a LangChain chat model; nothing is traced.

    Args:
        model: For ``init_chat_model``, such as ``openai:gpt-4o-mini``; with a factory, the name it is given.
        factory: ``package:function``. It is called with ``model`` and ``base_url`` where the plan has them,
            and with ``params``; it returns a chat model.
        chat: A chat model, in the place of both.
        base_url: Of an endpoint of one's own.
        api_key_env: The variable that holds the key; other providers than OpenAI read their own by default.
        params: Keyword arguments of the chat model, such as ``temperature``. Tries are counted by the engine:
            ``max_retries`` is 0 where this does not set it.
        timeout: Seconds for one call, all told.
        structured: ``json_schema``, ``json_object``, ``tool`` or ``text``: this form and no other.

    Raises:
        ConfigError: There is nothing to make a chat model of, or making it failed.
        PluginError: The factory, or a provider's package, cannot be loaded.

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
        api_key_env: str = DEFAULT_KEY,
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
        self.api_key_env = api_key_env
        self._base_url = validate_url(base_url) if base_url else None
        self._model = model
        self._factory = factory
        self._chat = chat
        self._ready = False
        self._client: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._forms = SchemaModes(structured)
        name = "/".join(part for part in (factory, model) if part) or type(chat).__name__
        self.signature = signature("langchain", name, self.params, structured)
        self.endpoint = without_secrets(base_url) if base_url else f"langchain:{name}"
        self._known: dict[tuple[object, ...], tuple[object, Any]] = {}

    def __repr__(self) -> str:
        return f"LangChainBackend({self.signature!r}, endpoint={self.endpoint!r})"

    async def complete(self, request: Request) -> Reply:
        """Ask once.

        Args:
            request: Its ``params`` go over those of the backend.

        Raises:
            BackendError: There is no usable reply; ``retryable`` and ``retry_after`` say what may help.
            ConfigError: The chat model cannot be made.
        """
        while True:
            chat = self._connect()
            form = self._forms.form if request.schema is not None else ""
            logprobs = request.logprobs if self._forms.takes_logprobs else None
            asking = self._runnable(chat, request, form, logprobs)
            if asking is None:
                continue
            begin = perf_counter()
            try:
                message = await self._ask(asking, request)
                return reply_of(
                    message, perf_counter() - begin, self._secrets(), form=form, logprobs=logprobs is not None
                )
            except BackendError:
                raise
            except Exception as error:
                cut = cut_reply(error, perf_counter() - begin, self._secrets(), form)
                if cut is not None:
                    return cut
                status, failure = error_of(
                    error,
                    endpoint=self.endpoint,
                    timeout=self.timeout,
                    secrets=self._secrets(),
                    api_key_env=self.api_key_env,
                )
            if not self._forms.moves_on(status, failure, form, logprobs):
                raise failure

    async def _ask(self, asking: Any, request: Request) -> BaseMessage:
        from langsmith import tracing_context

        turns = [(role, replace_surrogates(content)) for role, content in request.messages]
        with tracing_context(enabled=False):
            async with asyncio.timeout(self.timeout):
                answer = await asking.ainvoke(turns)
        message: BaseMessage = answer["raw"] if isinstance(answer, dict) else answer
        return message

    def _runnable(self, chat: BaseChatModel, request: Request, form: str, logprobs: int | None) -> Any:
        """Return what to invoke; None where the model cannot be asked so: another form is next."""
        extra = self._extra(request, logprobs)
        key = (id(request.schema), form, repr(sorted(extra.items())))
        found = self._known.get(key)
        if found is None:
            try:
                found = (request.schema, self._structured(chat, request, form, extra))
            except (NotImplementedError, TypeError, ValueError, AttributeError) as error:
                if not self._forms.refuse(form):
                    raise BackendError(
                        f"{self.endpoint} cannot be asked for {form or 'text'}: {error}"
                    ) from None
                return None
            if len(self._known) >= 256:
                self._known.clear()
            self._known[key] = found
        return found[1]

    def _extra(self, request: Request, logprobs: int | None) -> dict[str, Any]:
        extra = checked_params(request.params)
        seed = extra.get("seed", self.params.get("seed"))
        if request.repeat > 1 and isinstance(seed, int) and not isinstance(seed, bool):
            extra["seed"] = seed + request.repeat - 1
        if logprobs is not None:
            extra |= {"logprobs": True, "top_logprobs": logprobs}
        return extra

    def _structured(self, chat: BaseChatModel, request: Request, form: str, extra: dict[str, Any]) -> Any:
        if form in ("", "text"):
            return chat.bind(**extra) if extra else chat
        assert request.schema is not None
        schema = {"title": TOOL, **request.schema}
        accepted = parameters_of(chat.with_structured_output).parameters
        if form != "json_object" and "strict" in accepted:
            extra = {"strict": True, **extra}
        if self._base_url is None and type(chat).__name__ == "ChatOpenAI":
            schema = without_limits(schema)
        return chat.with_structured_output(schema, method=METHODS[form], include_raw=True, **extra)

    def _connect(self) -> BaseChatModel:
        loop = asyncio.get_running_loop()
        if self._client is not None and self._loop is not loop:
            self._forget()  # connections of a loop that is gone are of no use
        if not self._ready:
            from langchain_core.language_models.chat_models import BaseChatModel

            self._loop = loop
            self._chat = self._chat or self._make()
            if type(self._chat).with_structured_output is BaseChatModel.with_structured_output:
                self._forms.skip_to("tool")  # the base class knows no other, whatever it is asked for
            self._ready = True
        assert self._chat is not None
        return self._chat

    def _make(self) -> BaseChatModel:
        from langchain_core.language_models.chat_models import BaseChatModel

        given: dict[str, Any] = {"base_url": self._base_url} if self._base_url else {}
        try:
            if self._factory:
                named = {"model": self._model} if self._model else {}
                made = _load(self._factory)(**named, **given, **self.params)
            else:
                from langchain.chat_models import init_chat_model

                made = init_chat_model(
                    self._model, **self._access(), **given, **{"max_retries": 0, **self.params}
                )
        except ImportError as error:
            raise PluginError(f"{self.signature}: {error}") from None
        except ConfigError:
            raise
        except Exception as error:
            words = str(error).replace(api_key_from(self.api_key_env) or "\0", "[hidden]")
            raise ConfigError(f"{self.signature}: the chat model cannot be made: {words}") from None
        if not isinstance(made, BaseChatModel):
            raise ConfigError(f"{self._factory} gave no chat model but a {type(made).__name__}")
        return made

    def _access(self) -> dict[str, Any]:
        """Return provider, key and connections: langchain-openai would share its own between event loops."""
        provider, colon, _ = self._model.partition(":")
        is_openai = provider == "openai" if colon else self._base_url is not None
        access: dict[str, Any] = {"model_provider": "openai"} if is_openai and not colon else {}
        if is_openai or self.api_key_env != DEFAULT_KEY:
            key = api_key_from(self.api_key_env) or (NO_KEY if self._base_url else "")
            access |= {"api_key": key} if key else {}
        if is_openai:
            from openai import DefaultAsyncHttpxClient

            self._client = DefaultAsyncHttpxClient(timeout=self.timeout, follow_redirects=False)
            access["http_async_client"] = self._client
        return access

    def _secrets(self) -> tuple[str, ...]:
        found = [api_key_from(self.api_key_env)]
        for value in vars(self._chat).values() if self._chat is not None else ():
            reveal = getattr(value, "get_secret_value", None)
            if reveal is not None:
                found.append(str(reveal()))
        return tuple(secret for secret in dict.fromkeys(found) if len(secret) >= SECRET_FROM)

    async def close(self) -> None:
        """Close the connections that were opened here; other chat models keep their own."""
        client, loop = self._client, self._loop
        if client is not None:
            self._forget()
            if loop is asyncio.get_running_loop():
                await client.aclose()

    def _forget(self) -> None:
        self._client = self._chat = None
        self._ready = False
        self._known.clear()


def _load(path: str) -> Any:
    module, colon, name = path.partition(":")
    if not colon or not module or not name:
        raise ConfigError(f"factory must be package:function, got {path!r}")
    try:
        return getattr(import_module(module), name)
    except AttributeError:
        raise ConfigError(f"factory {path!r}: {module} has no {name}") from None

"""The langchain backend: the user's chat models, and langchain-openai against a server on loopback."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import traceback
from types import ModuleType
from typing import Any

import pytest
import pytest_asyncio
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import SecretStr
from rows import each_row

from hengwen import registry
from hengwen.backends import LangChainBackend
from hengwen.errors import BackendError, ConfigError, PluginError
from hengwen.protocols import Backend
from hengwen.records import Request

SCHEMA = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": 9},
        "level": {"type": "string", "enum": ["A", "B"]},
    },
    "required": ["reason", "level"],
    "additionalProperties": False,
}
ASK = Request(messages=(("system", "Judge."), ("user", "Hello 你好")))
JUDGE = Request(messages=ASK.messages, schema=SCHEMA)
GOOD = '{"reason": "r", "level": "A"}'
KEY = "sk-planted-0123456789"


class Scripted(BaseChatModel):
    """Returns its answer; keeps its calls."""

    answer: Any = None
    tools_known: bool = True
    calls: list[Any] = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.calls.append((messages, kwargs))
        if isinstance(self.answer, Exception):
            raise self.answer
        return ChatResult(generations=[ChatGeneration(message=self.answer)])

    def bind_tools(self, tools: Any, *, tool_choice: Any = None, **kwargs: Any) -> Any:
        if not self.tools_known:
            raise NotImplementedError("no tools here")
        return self.bind(tools=tools, tool_choice=tool_choice)


def scripted(answer: Any, **options: Any) -> LangChainBackend:
    return LangChainBackend(chat=Scripted(answer=answer, calls=[]), model="mine", **options)


@pytest_asyncio.fixture
async def chat(server):
    """Make backends over langchain-openai that ask the server, and close them."""
    built: list[LangChainBackend] = []

    def make(**options: Any) -> LangChainBackend:
        built.append(LangChainBackend(**{"model": "openai:tiny", "base_url": server.url, **options}))
        return built[-1]

    yield make
    for backend in built:
        await backend.close()


async def failure(backend, request=ASK) -> BackendError:
    with pytest.raises(BackendError) as caught:
        await backend.complete(request)
    return caught.value


async def test_text_usage_model_and_finish_reason_are_mapped():
    about = {"model_name": "m-1", "finish_reason": "stop"}
    usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    backend = scripted(AIMessage("你好", response_metadata=about, usage_metadata=usage))
    reply = await backend.complete(ASK)
    assert (reply.text, reply.model, reply.finish, reply.response_format) == ("你好", "m-1", "stop", "")
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 5, 2)
    assert reply.latency > 0
    messages, _ = backend._chat.calls[0]
    assert [(turn.type, turn.content) for turn in messages] == [("system", "Judge."), ("human", "Hello 你好")]


@each_row(
    ("about", "finish"),
    [
        ({"finish_reason": "length"}, "length"),
        ({"stop_reason": "max_tokens"}, "length"),
        ({"finish_reason": "MAX_TOKENS"}, "length"),
        ({"done_reason": "length"}, "length"),
        ({"finish_reason": "SAFETY"}, "content_filter"),
        ({"stop_reason": "refusal"}, "content_filter"),
        ({"stop_reason": "end_turn"}, "end_turn"),
        ({}, "stop"),
    ],
)
async def test_finish_reasons_of_providers_are_mapped(about, finish):
    assert (await scripted(AIMessage("x", response_metadata=about)).complete(ASK)).finish == finish


async def test_content_in_parts_is_joined_and_thoughts_are_left_out():
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, "b"]
    assert (await scripted(AIMessage(parts)).complete(ASK)).text == "ab"


async def test_a_refusal_is_refused():
    refusing = scripted(AIMessage("", additional_kwargs={"refusal": "I will not"}))
    error = await failure(refusing)
    assert (error.status, error.raw, error.retryable) == ("refused", "I will not", False)


@pytest.mark.slow
async def test_a_model_that_supports_only_tools_gets_a_tool():
    call = {"name": "verdict", "args": {"reason": "好", "level": "A"}, "id": "1"}
    backend = scripted(AIMessage("", tool_calls=[call]))
    reply = await backend.complete(JUDGE)
    assert (reply.text, reply.response_format) == ('{"reason": "好", "level": "A"}', "tool")
    tools = backend._chat.calls[0][1]["tools"]
    assert tools[0]["title"] == "verdict"
    assert tools[0]["properties"] == SCHEMA["properties"]


async def test_a_model_without_tools_gets_plain_text_and_that_is_remembered():
    backend = scripted(AIMessage(GOOD))
    backend._chat.tools_known = False
    for _ in range(2):
        reply = await backend.complete(JUDGE)
        assert (reply.text, reply.response_format) == (GOOD, "text")
    pinned = scripted(AIMessage(GOOD), structured="tool")
    pinned._chat.tools_known = False
    assert "cannot be asked for tool: no tools here" in str(await failure(pinned, JUDGE))


@each_row(
    ("raised", "status", "retryable", "words"),
    [
        (TimeoutError(), "timeout", True, "within 120 s"),
        (ConnectionResetError("reset"), "transport_error", True, "reset"),
        (KeyError("choices"), "transport_error", False, "KeyError: 'choices'"),
        (json.JSONDecodeError("bad", "x", 0), "transport_error", True, "bad"),
    ],
)
async def test_errors_of_a_model_become_typed(raised, status, retryable, words):
    error = await failure(scripted(raised))
    assert (error.status, error.retryable) == (status, retryable)
    assert words in str(error)


async def test_a_model_that_takes_too_long_is_a_timeout():
    class Slow(Scripted):
        async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
            await asyncio.sleep(5)
            raise AssertionError

    error = await failure(LangChainBackend(chat=Slow(), timeout=0.05))
    assert (error.status, error.retryable) == ("timeout", True)


async def test_a_factory_is_called_with_the_settings_of_the_plan(monkeypatch):
    built: list[dict[str, Any]] = []

    def build(**kwargs: Any) -> Scripted:
        built.append(kwargs)
        return Scripted(answer=AIMessage("hi"), calls=[])

    module = ModuleType("my_models")
    module.build = build  # type: ignore[attr-defined]
    module.nothing = lambda **kwargs: "a model"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_models", module)
    plain = LangChainBackend(factory="my_models:build", params={"temperature": 0.5})
    full = LangChainBackend(factory="my_models:build", model="m", base_url="http://x/v1")
    for backend in (plain, full):
        assert (await backend.complete(ASK)).text == "hi"
        await backend.complete(ASK)
    assert built == [{"temperature": 0.5}, {"model": "m", "base_url": "http://x/v1"}]
    assert (plain.signature, plain.endpoint) == (
        "langchain/my_models:build|temp:0.5",
        "langchain:my_models:build",
    )
    assert (full.signature, full.endpoint) == ("langchain/my_models:build/m", "http://x/v1")
    wrong = {
        "my_models:nothing": "factory 'my_models:nothing' must return a chat model, got str",
        "my_models": "must be package:function, got 'my_models'",
        "my_models:none": "my_models has no none",
    }
    for path, words in wrong.items():
        with pytest.raises(ConfigError, match=words):
            await LangChainBackend(factory=path).complete(ASK)
    with pytest.raises(PluginError, match="no_such_package"):
        await LangChainBackend(factory="no_such_package:f").complete(ASK)


def test_a_backend_needs_a_model_or_a_factory():
    with pytest.raises(ConfigError, match="needs a model .* or a factory"):
        LangChainBackend()


def test_a_model_of_openai_without_its_package_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.setattr("hengwen.backends.langchain.find_spec", lambda name: None)
    for options in ({"model": "openai:gpt-4o-mini"}, {"model": "m", "base_url": "http://127.0.0.1:1/v1"}):
        with pytest.raises(PluginError, match=r"pip install 'hengwen\[langchain-openai\]'"):
            LangChainBackend(**options)
    LangChainBackend(model="anthropic:claude")
    LangChainBackend(chat=Scripted(answer=AIMessage("yes")))


def test_the_registry_builds_it():
    arguments: dict = {
        "model": "openai:m",
        "base_url": None,
        "api_key_env": "K",
        "params": {},
        "timeout": 3.0,
    }
    assert isinstance(registry.build("backends", "langchain", {"structured": "tool"}, **arguments), Backend)
    with pytest.raises(ConfigError, match="backend 'langchain'"):
        registry.build("backends", "langchain", {"factori": "x"}, **arguments)


@pytest.mark.slow
async def test_langchain_openai_sends_a_strict_schema(server, chat):
    server.say(GOOD)
    reply = await chat(params={"temperature": 0}).complete(JUDGE)
    assert (reply.text, reply.response_format, reply.model) == (GOOD, "json_schema", "tiny-1")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 7)
    _, headers, body = server.requests[0]
    assert body["model"] == "tiny"
    assert body["temperature"] == 0
    sent = body["response_format"]["json_schema"]
    assert (sent["name"], sent["strict"]) == ("verdict", True)
    assert list(sent["schema"]["properties"]) == ["reason", "level"]
    assert headers["authorization"] == "Bearer no-key"


@pytest.mark.slow
async def test_langchain_openai_negotiates_the_response_format(server, chat):
    def decide(body: Any) -> None:
        form = body.get("response_format", {}).get("type") or ("tool" if "tools" in body else "text")
        if form == "text":
            server.say(GOOD)
        else:
            server.reply({"error": {"message": f"response_format and tools are unknown: {form}"}}, 400)

    server.decide = decide
    backend = chat()
    assert [(await backend.complete(JUDGE)).response_format for _ in range(2)] == ["text", "text"]
    assert len(server.requests) == 5


@pytest.mark.slow
async def test_a_tool_call_of_langchain_openai_is_read_unparsed(server, chat):
    call = {"id": "1", "type": "function", "function": {"name": "verdict", "arguments": GOOD}}
    server.say(None, finish="tool_calls", tool_calls=[call])
    reply = await chat(structured="tool").complete(JUDGE)
    assert (reply.text, reply.response_format) == (GOOD, "tool")


async def test_a_truncated_reply_has_finish_length(server, chat):
    server.say('{"reason": "r', finish="length")
    for request in (ASK, JUDGE):
        reply = await chat().complete(request)
        assert (reply.text, reply.finish) == ('{"reason": "r', "length")


async def test_log_probabilities_are_requested_and_read(server, chat):
    content = [{"token": "B", "logprob": -0.5, "bytes": [66], "top_logprobs": []}]
    choice = {"index": 0, "message": {"role": "assistant", "content": GOOD}, "finish_reason": "stop"}
    server.reply({"id": "1", "object": "chat.completion", "created": 1, "model": "m",
                  "choices": [{**choice, "logprobs": {"content": content}}]})  # fmt: skip
    for schema in (None, SCHEMA):
        reply = await chat().complete(Request(messages=ASK.messages, schema=schema, logprobs=4))
        assert reply.logprobs == ((b"B", -0.5, ()),)
        assert server.requests[-1][2]["top_logprobs"] == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [(400, "rejected", False), (401, "rejected", False), (408, "timeout", True),
     (429, "rate_limited", True), (500, "transport_error", True)],
)  # fmt: skip
async def test_each_http_status_is_mapped_to_status_and_retryability(server, chat, status, kind, retryable):
    server.reply({"error": {"message": "the model is asleep"}}, status, Retry_After="7")
    error = await failure(chat())
    assert (error.status, error.retryable) == (kind, retryable)
    assert f"the endpoint answered {status}: the model is asleep" in str(error)
    assert error.retry_after == (7 if retryable else None)
    assert len(server.requests) == 1, "the engine retries, not the client"


async def test_a_dropped_connection_is_retryable(server, chat):
    server.answer = b""
    error = await failure(chat())
    assert (error.status, error.retryable) == ("transport_error", True)


async def test_a_seed_grows_with_the_repeat(server, chat):
    backend = chat(params={"seed": 7})
    for repeat in (1, 3):
        await backend.complete(Request(messages=ASK.messages, repeat=repeat, params={"top_p": 0.5}))
    assert [(body["seed"], body["top_p"]) for _, _, body in server.requests] == [(7, 0.5), (9, 0.5)]


async def test_the_key_is_sent_and_shown_nowhere(server, chat, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    backend = chat()
    server.say(f"your key is {KEY}")
    reply = await backend.complete(ASK)
    assert server.requests[0][1]["authorization"] == f"Bearer {KEY}"
    assert reply.text == "your key is [hidden]"
    texts = [repr(backend), str(vars(backend))]
    for status in (401, 500):
        server.reply({"error": {"message": f"key {KEY} is bad"}}, status)
        error = await failure(backend)
        texts += [str(error), error.raw, "".join(traceback.format_exception(error))]
    assert not [text for text in texts if KEY in text]


async def test_keys_of_any_provider_and_of_a_url_are_hidden_in_errors():
    class Keyed(Scripted):
        api_key: SecretStr = SecretStr(KEY)

    urls = {"base_url": "http://me:super-secret@127.0.0.1:9/v1"}
    for leak in (KEY, "super-secret", "bWU6c3VwZXItc2VjcmV0"):
        error = await failure(
            LangChainBackend(chat=Keyed(answer=ValueError(f"401: {leak} is bad")), model="other:m", **urls)
        )
        assert "[hidden] is bad" in str(error)
        assert leak not in "".join(traceback.format_exception(error)) + error.raw


async def test_a_closed_backend_opens_again(server, chat):
    backend = chat()
    for _ in range(2):
        assert (await backend.complete(ASK)).text == "hello"
        await backend.close()


async def test_nothing_is_traced(monkeypatch):
    from langsmith.utils import get_env_var, tracing_is_enabled

    traced: list[Any] = []

    class Watching(Scripted):
        async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
            traced.append(tracing_is_enabled())
            return ChatResult(generations=[ChatGeneration(message=AIMessage("x"))])

    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    get_env_var.cache_clear()  # type: ignore[attr-defined]
    try:
        assert tracing_is_enabled(), "else this shows nothing"
        await LangChainBackend(chat=Watching()).complete(ASK)
    finally:
        get_env_var.cache_clear()  # type: ignore[attr-defined]
    assert traced == [False]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # what a closed loop leaves cannot be closed
def test_a_backend_serves_one_event_loop_after_another(shared_server):
    backend = LangChainBackend(model="openai:tiny", base_url=shared_server)

    async def ask() -> str:
        return (await backend.complete(ASK)).text

    assert [asyncio.run(ask()) for _ in range(3)] == ["hello"] * 3
    asyncio.run(backend.close())
    gc.collect()  # here, where the warning is expected

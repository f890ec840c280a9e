"""The openai backend against a real HTTP server on loopback."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import socket
import traceback

import pytest
from rows import each_row

from hengwen import registry
from hengwen.backends import OpenAIBackend
from hengwen.errors import BackendError, ConfigError
from hengwen.protocols import Backend
from hengwen.records import Request

ASK = Request(messages=(("system", "Judge."), ("user", "Hello 你好")))
KEY = "sk-planted/0123456789"


async def failure(backend, request=ASK) -> BackendError:
    with pytest.raises(BackendError) as caught:
        await backend.complete(request)
    return caught.value


async def test_a_reply_carries_text_model_usage_and_latency(server, backend):
    server.say("你好", finish="stop")
    reply = await backend().complete(ASK)
    assert (reply.text, reply.model, reply.finish) == ("你好", "tiny-1", "stop")
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 11, 7)
    assert 0 < reply.latency < 10


async def test_messages_and_parameters_are_sent(server, backend):
    request = Request(messages=ASK.messages, params={"seed": 3, "top_p": 0.5})
    await backend(params={"temperature": 0, "top_p": 0.9}).complete(request)
    first, headers, body = server.requests[0]
    assert first == "POST /v1/chat/completions HTTP/1.1"
    assert body == {
        "model": "tiny",
        "messages": [{"role": "system", "content": "Judge."}, {"role": "user", "content": "Hello 你好"}],
        "temperature": 0,
        "top_p": 0.5,
        "seed": 3,
    }
    assert headers["authorization"] == "Bearer no-key"


async def test_a_schema_is_sent_as_strict_json_schema(server, backend):
    schema = {"type": "object", "properties": {"reason": {"type": "string", "maxLength": 9}}}
    await backend().complete(Request(messages=ASK.messages, schema=schema))
    assert server.requests[0][2]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "strict": True, "schema": schema},
    }


def test_openai_itself_is_sent_no_length_limits(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    schema = {"type": "object", "properties": {"reason": {"type": "string", "maxLength": 9}}}
    body = json.loads(
        OpenAIBackend(model="gpt")._encoder.encode(
            Request(messages=ASK.messages, schema=schema), "json_schema", None
        )
    )
    sent = body["response_format"]["json_schema"]["schema"]
    assert sent == {"type": "object", "properties": {"reason": {"type": "string"}}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, "rejected", False),
        (401, "rejected", False),
        (404, "rejected", False),
        (408, "timeout", True),
        (409, "transport_error", True),
        (425, "transport_error", True),
        (422, "rejected", False),
        (429, "rate_limited", True),
        (500, "transport_error", True),
        (503, "transport_error", True),
    ],
)
async def test_each_http_status_is_mapped_to_status_and_retryability(
    server, backend, status, kind, retryable
):
    server.reply({"error": {"message": "the model is\n asleep"}}, status)
    error = await failure(backend())
    assert (error.status, error.retryable) == (kind, retryable)
    assert f"the endpoint answered {status}: the model is asleep" in str(error)
    assert "the model is" in error.raw
    assert len(server.requests) == 1, "the engine retries, not the client"


async def test_a_refused_key_names_the_variable(server, backend):
    server.reply({"error": {"message": "bad key"}}, 401)
    assert str(await failure(backend(api_key_env="MY_KEY"))).endswith("check the key in MY_KEY")


async def test_an_empty_quota_is_not_retryable(server, backend):
    server.reply({"error": {"message": "pay", "code": "insufficient_quota"}}, 429)
    error = await failure(backend())
    assert (error.status, error.retryable) == ("rate_limited", False)


async def test_a_redirect_is_not_followed(server, backend):
    server.reply("", 302, Location="http://elsewhere.invalid/v1?secret=1")
    error = await failure(backend())
    assert not error.retryable
    assert "redirects to http://elsewhere.invalid/v1; put" in str(error)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"Retry_After": "7"}, 7, 7),
        ({"Retry_After": "1.5"}, 1.5, 1.5),
        ({"retry_after_ms": "250", "Retry_After": "7"}, 0.25, 0.25),
        ({"Retry_After": "Fri, 31 Dec 9999 23:59:59 GMT"}, 1e10, 1e12),
        ({"Retry_After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0, 0),
    ],
    ids=["seconds", "fraction", "milliseconds", "date", "past date"],
)
async def test_retry_after_is_read(server, backend, headers, low, high):
    server.reply("{}", 429, **headers)
    after = (await failure(backend())).retry_after
    assert after is not None
    assert low <= after <= high


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "soon", ""])
async def test_an_invalid_retry_after_is_none(server, backend, value):
    server.reply("{}", 503, Retry_After=value)
    error = await failure(backend())
    assert error.retry_after is None
    assert error.retryable


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("", "application/json"),
        ("not json", "application/json"),
        ('{"choices": [', "application/json"),
        ("<html>busy</html>", "text/html"),
        ("[" * 5000, "application/json"),
        ("[1, 2]", "application/json"),
        ("null", "application/json"),
        ("{}", "application/json"),
        ('{"choices": []}', "application/json"),
        ('{"choices": {}}', "application/json"),
        ('{"choices": [{}]}', "application/json"),
        ('{"choices": [{"message": "hi"}]}', "application/json"),
        ('{"choices": [{"message": {"content": 5}}]}', "application/json"),
        ('{"error": {"message": "upstream is gone"}}', "application/json"),
    ],
)
async def test_an_invalid_body_is_a_retryable_transport_error(server, backend, body, content_type):
    server.send(body.encode(), content_type=content_type)
    error = await failure(backend())
    assert (error.status, error.retryable) == ("transport_error", True)
    if "upstream" in body:
        assert "upstream is gone" in str(error)
    if "busy" in body:
        assert error.raw == "<html>busy</html>"


async def test_bytes_that_are_not_text_are_a_transport_error(server, backend):
    server.send(b'{"choices": "\xff\xfe"}')
    assert (await failure(backend())).status == "transport_error"


async def test_a_body_that_stops_early_is_a_transport_error(server, backend):
    server.send(b'{"choices": [{"mess', content_length="4000")
    error = await failure(backend())
    assert (error.status, error.retryable) == ("transport_error", True)


@pytest.mark.parametrize(
    "answer",
    [b"", b"\x00\x01garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Le"],
    ids=["none", "garbage", "cut"],
)
async def test_a_dropped_or_broken_connection_is_a_transport_error(server, backend, answer):
    server.answer = answer
    error = await failure(backend())
    assert (error.status, error.retryable) == ("transport_error", True)


async def test_a_closed_port_is_a_transport_error_that_names_the_endpoint(server, backend):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    error = await failure(backend(base_url=url))
    assert (error.status, error.retryable) == ("transport_error", True)
    assert f"no answer from {url}: " in str(error)


@pytest.mark.slow
async def test_a_slow_answer_is_a_timeout(server, backend):
    server.delay = 2
    error = await failure(backend(timeout=0.2))
    assert (error.status, error.retryable) == ("timeout", True)
    assert "within 0.2 s" in str(error)


@pytest.mark.slow
async def test_a_cancelled_call_stays_cancelled(server, backend):
    server.delay = 2
    call = asyncio.create_task(backend().complete(ASK))
    await asyncio.sleep(0.3)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_a_refusal_is_refused(server, backend):
    server.say(None, refusal="I cannot help with that")
    error = await failure(backend())
    assert (error.status, error.retryable) == ("refused", False)
    assert "I cannot help" in error.raw


@pytest.mark.parametrize(
    ("content", "finish", "text"),
    [
        (None, "content_filter", ""),
        (None, "length", ""),
        ("cut", "length", "cut"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "image"}], "stop", "ab"),
        ("a\ud800b", "stop", "a\ufffdb"),
    ],
)
async def test_unusual_contents_become_text_and_the_finish_reason_is_kept(
    server, backend, content, finish, text
):
    server.say(content, finish=finish)
    reply = await backend().complete(ASK)
    assert (reply.text, reply.finish) == (text, finish)


async def test_invalid_usage_counts_as_zero(server, backend):
    choice = {"message": {"content": "x"}}
    server.reply(
        {"choices": [choice], "usage": {"prompt_tokens": -3, "completion_tokens": "many"}, "model": 5}
    )
    reply = await backend().complete(ASK)
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.model) == (0, 0, "")
    assert reply.finish == "stop"


async def test_lone_surrogates_in_a_prompt_can_be_sent(server, backend):
    await backend().complete(Request(messages=(("user", "a\udfffb"),)))
    assert server.requests[0][2]["messages"][0]["content"] == "a\ufffdb"


async def test_the_key_is_sent_and_shown_nowhere(server, backend, monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    client = backend()
    server.say(f"your key is {KEY}")
    reply = await client.complete(ASK)
    assert server.requests[0][1]["authorization"] == f"Bearer {KEY}"
    assert reply.text == "your key is [hidden]"
    texts = [repr(client), client.signature, client.endpoint, str(vars(client)), repr(reply), caplog.text]
    for status in (401, 429, 500, 200):
        server.reply(f'{{"error": {{"message": "key {KEY} is bad"}}}}', status)
        error = await failure(client)
        texts += [str(error), error.raw, repr(error), "".join(traceback.format_exception(error))]
    server.reply(f"garbage {KEY}")
    error = await failure(client)
    texts += [error.raw, "".join(traceback.format_exception(error)), caplog.text]
    assert not [text for text in texts if KEY in text]


async def test_a_short_word_as_key_is_not_redacted(server, backend, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "EMPTY")
    server.say("EMPTY rooms")
    assert (await backend().complete(ASK)).text == "EMPTY rooms"


def test_a_missing_key_for_openai_itself_is_an_error_at_once(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for value in ("", "  "):
        monkeypatch.setenv("OPENAI_API_KEY", value)
        with pytest.raises(ConfigError, match="no API key: set OPENAI_API_KEY"):
            OpenAIBackend(model="gpt")


def test_a_key_with_a_line_break_is_refused_without_being_shown(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-a\nb")
    with pytest.raises(ConfigError, match="MY_KEY holds characters that no key has") as caught:
        OpenAIBackend(model="gpt", api_key_env="MY_KEY")
    assert "sk-a" not in str(caught.value)


def test_the_base_url_of_the_environment_is_the_default(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://one:9/v1/")
    assert OpenAIBackend(model="m").endpoint == "http://one:9/v1"
    assert OpenAIBackend(model="m", base_url="http://two:9/v1").endpoint == "http://two:9/v1"


@each_row("url", ["localhost:8080", "ftp://x/v1", "http://", "http://x:port/v1"])
def test_an_invalid_url_is_refused(url):
    with pytest.raises(ConfigError, match="base_url must be an address"):
        OpenAIBackend(model="m", base_url=url)


def test_the_signature_has_the_parameters_in_the_order_of_their_names():
    params = {"top_p": 0.9, "max_tokens": 300, "temperature": 0.0, "stop": ["b", "a"]}
    texts = OpenAIBackend(model="m", base_url="http://x/v1", params=params).signature
    assert texts == 'openai/m|max_tokens:300|stop:["b", "a"]|temp:0|top_p:0.9'


@each_row("name", ["model", "messages", "stream", "response_format"])
def test_parameters_of_the_backend_may_not_be_set_by_the_plan(name):
    with pytest.raises(ConfigError, match=f"params may not set '{name}'"):
        OpenAIBackend(model="m", base_url="http://x/v1", params={name: 1})


def test_the_registry_builds_it_and_names_a_wrong_option():
    arguments = {"model": "m", "base_url": "http://x/v1", "api_key_env": "K", "params": {}, "timeout": 3.0}
    assert isinstance(registry.build("backends", "openai", {}, **arguments), Backend)
    with pytest.raises(ConfigError, match="backend 'openai'"):
        registry.build("backends", "openai", {"modle": "x"}, **arguments)


async def test_many_calls_share_connections_and_a_closed_backend_opens_again(server, backend):
    client = backend()
    replies = await asyncio.gather(*(client.complete(ASK) for _ in range(40)))
    assert {reply.text for reply in replies} == {"hello"}
    await client.close()
    assert (await client.complete(ASK)).text == "hello"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # what a closed loop leaves cannot be closed
def test_a_backend_serves_one_event_loop_after_another(shared_server):
    client = OpenAIBackend(model="m", base_url=shared_server)

    async def ask() -> str:
        return (await client.complete(ASK)).text

    assert [asyncio.run(ask()) for _ in range(3)] == ["hello"] * 3
    asyncio.run(client.close())
    gc.collect()  # here, where the warning is expected


async def test_no_header_describes_platform_or_python_version(server, backend) -> None:
    await backend().complete(Request(messages=(("user", "hi"),)))
    ((_, headers, _),) = server.requests
    assert headers["content-type"] == "application/json"
    assert not [name for name in headers if name.startswith("x-")]


SPELLINGS = {
    "plain": KEY,
    "json": "".join(f"\\u{ord(char):04x}" for char in KEY),
    "json in json": "".join(f"\\\\u{ord(char):04X}" for char in KEY),
    "slash": KEY.replace("/", "\\/"),
    "url": "".join(f"%{ord(char):02x}" for char in KEY),
    "first character": "\\u0073" + KEY[1:],
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("status", [200, 400])
async def test_no_spelling_of_a_key_passes(server, backend, monkeypatch, spelling, status):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    leak = SPELLINGS[spelling]
    if status == 200:
        server.say(f'{{"reason": "{leak}", "level": "A"}}')
        reply = await backend().complete(ASK)
        assert json.loads(reply.text) == {"reason": "[hidden]", "level": "A"}
    else:
        server.reply(f'{{"error": {{"message": "key {leak} is bad"}}}}', status)
        error = await failure(backend())
        decoded = json.loads(error.raw)["error"]["message"]
        assert decoded == "key [hidden] is bad"
        assert "[hidden]" in str(error)


async def test_the_model_of_a_reply_shows_no_key(server, backend, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.reply({"model": KEY, "choices": [{"message": {"content": "x"}, "finish_reason": KEY}]})
    reply = await backend().complete(ASK)
    assert (reply.model, reply.finish) == ("[hidden]", "[hidden]")


async def test_basic_credentials_of_a_url_are_hidden(server, backend):
    credentials = "bWU6c3VwZXItc2VjcmV0"  # me:super-secret
    server.say(f"you sent {credentials}")
    url = server.url.replace("http://", "http://me:super-secret@")
    assert (await backend(base_url=url).complete(ASK)).text == "you sent [hidden]"

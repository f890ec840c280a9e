"""Negotiation of structured output: the strictest supported format, found once."""

from __future__ import annotations

import asyncio

import pytest

from hengwen.backends import OpenAIBackend
from hengwen.backends.parameters import SCHEMA_MODES, SchemaModes
from hengwen.errors import BackendError, ConfigError
from hengwen.records import Request

SCHEMA = {"type": "object", "properties": {"level": {"type": "string", "enum": ["A", "B"]}}}
ASK = Request(messages=(("user", "Judge, answer in JSON"),), schema=SCHEMA)


def format_of(body) -> str:
    if "tools" in body:
        return "tool"
    return body.get("response_format", {"type": "text"})["type"]


def supporting(server, *formats: str, status: int = 400, logprobs: bool = True) -> None:
    """Make a server that supports only some response formats, with the messages of real servers."""
    words = {
        "json_schema": "This response_format type is unavailable now",
        "json_object": "Unknown response format: json_object",
        "tool": "No endpoints found that support tool use",
        "text": "down",
    }

    def decide(body) -> None:
        response_format = format_of(body)
        if body.get("logprobs") and not logprobs:
            server.reply({"error": {"message": "logprobs are not supported by this model"}}, status)
        elif response_format not in formats:
            server.reply({"error": {"message": words[response_format]}}, status)
        elif response_format == "tool":
            call = {"type": "function", "function": {"name": "verdict", "arguments": '{"level": "A"}'}}
            server.say(None, finish="tool_calls", tool_calls=[call])
        else:
            server.say('{"level": "A"}')

    server.decide = decide


@pytest.mark.parametrize("supported", SCHEMA_MODES)
@pytest.mark.parametrize("status", [400, 404, 422, 501])
async def test_the_strictest_supported_format_is_used_and_remembered(server, backend, supported, status):
    supporting(server, supported, status=status)
    client = backend()
    for _ in range(2):
        reply = await client.complete(ASK)
        assert (reply.text, reply.response_format) == ('{"level": "A"}', supported)
    sent = [format_of(body) for _, _, body in server.requests]
    steps = list(SCHEMA_MODES[: SCHEMA_MODES.index(supported) + 1])
    assert sent == [*steps, supported]


async def test_calls_refused_together_downgrade_the_format_once(server, backend):
    supporting(server, "json_object", "tool", "text")
    server.delay = 0.05
    client = backend()
    replies = await asyncio.gather(*(client.complete(ASK) for _ in range(10)))
    assert {reply.response_format for reply in replies} == {"json_object"}
    assert len(server.requests) == 20


async def test_each_backend_negotiates_for_itself(server, backend):
    supporting(server, "text")
    assert (await backend().complete(ASK)).response_format == "text"
    supporting(server, *SCHEMA_MODES)
    assert (await backend().complete(ASK)).response_format == "json_schema"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "the request exceeds the context size"),
        (401, "response_format needs a key"),
        (429, "too many with response_format"),
        (500, "response_format broke me"),
        (400, "messages must alternate between user and assistant"),
    ],
)
async def test_another_error_does_not_change_the_format(server, backend, status, message):
    server.reply({"error": {"message": message}}, status)
    client = backend()
    with pytest.raises(BackendError, match=message):
        await client.complete(ASK)
    assert len(server.requests) == 1
    server.say('{"level": "A"}')
    assert (await client.complete(ASK)).response_format == "json_schema"


async def test_a_reply_that_ignores_the_schema_does_not_change_the_format(server, backend):
    server.say("I like it")
    client = backend()
    assert [(await client.complete(ASK)).response_format for _ in range(2)] == ["json_schema"] * 2


async def test_a_refusal_of_plain_text_is_an_error(server, backend):
    supporting(server)
    with pytest.raises(BackendError, match="down"):
        await backend().complete(ASK)
    assert [format_of(body) for _, _, body in server.requests] == list(SCHEMA_MODES)


@pytest.mark.parametrize("response_format", SCHEMA_MODES)
async def test_a_pinned_format_is_the_only_one(server, backend, response_format):
    supporting(server, *SCHEMA_MODES)
    client = backend(structured=response_format)
    assert (await client.complete(ASK)).response_format == response_format
    assert client.signature == f"openai/tiny|structured:{response_format}"
    supporting(server)
    with pytest.raises(BackendError):
        await client.complete(ASK)
    assert [format_of(body) for _, _, body in server.requests] == [response_format, response_format]


def test_an_unknown_format_is_refused():
    with pytest.raises(ConfigError, match="unknown structured 'json_shema'; did you mean 'json_schema'?"):
        OpenAIBackend(model="m", base_url="http://x/v1", structured="json_shema")


async def test_a_request_without_schema_has_no_response_format(server, backend):
    reply = await backend(structured="tool").complete(Request(messages=ASK.messages))
    assert reply.response_format == ""
    assert set(server.requests[0][2]) == {"model", "messages"}


async def test_the_tool_has_the_schema_and_must_be_called(server, backend):
    supporting(server, *SCHEMA_MODES)
    await backend(structured="tool").complete(ASK)
    body = server.requests[0][2]
    assert body["tools"][0]["function"]["parameters"] == SCHEMA
    assert body["tool_choice"] == {"type": "function", "function": {"name": "verdict"}}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"tool_calls": [{"function": {"arguments": "{}"}}]}, "{}"),
        ({"tool_calls": [{"function": {"arguments": {"level": "优"}}}]}, '{"level": "优"}'),
        ({"tool_calls": [{"function": {"arguments": "{}"}}] * 2}, "{}\n{}"),
        ({"tool_calls": []}, "words"),
        ({"tool_calls": "x"}, "words"),
        ({"tool_calls": [None, {"function": 3}]}, "words"),
        ({}, "words"),
    ],
)
async def test_the_arguments_of_a_call_are_the_text_else_the_words_are(server, backend, message, text):
    server.say("words", **message)
    assert (await backend(structured="tool").complete(ASK)).text == text
    assert (await backend(structured="text").complete(ASK)).text == "words"


async def test_log_probabilities_are_asked_for_and_read(server, backend):
    request = Request(messages=ASK.messages, logprobs=5)
    other = [
        {"token": "A", "logprob": -1.5, "bytes": None},
        {"token": "\ufffd", "logprob": -2, "bytes": [228]},
    ]
    content = [{"token": "B", "logprob": -0.5, "bytes": [66], "top_logprobs": other}]
    choice = {"message": {"content": "B"}, "finish_reason": "stop", "logprobs": {"content": content}}
    server.reply({"choices": [choice]})
    reply = await backend().complete(request)
    assert reply.logprobs == ((b"B", -0.5, ((b"A", -1.5), (b"\xe4", -2.0))),)
    assert (server.requests[0][2]["logprobs"], server.requests[0][2]["top_logprobs"]) == (True, 5)
    assert (await backend().complete(Request(messages=ASK.messages))).logprobs is None, "not request for"


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"content": None},
        {"content": []},
        {"content": [{"token": "B"}]},
        {"content": ["B"]},
        {"content": [{"token": "B", "logprob": "low"}]},
        {"content": [{"token": "B", "logprob": float("nan")}]},
        {"content": [{"token": None, "logprob": 0}]},
        {"content": [{"token": "B", "logprob": 0, "bytes": [300]}]},
    ],
)
async def test_log_probabilities_that_cannot_be_read_are_none(server, backend, logprobs):
    server.reply({"choices": [{"message": {"content": "B"}, "logprobs": logprobs}]})
    assert (await backend().complete(Request(messages=ASK.messages, logprobs=5))).logprobs is None


async def test_an_endpoint_without_log_probabilities_is_asked_for_them_once(server, backend):
    supporting(server, "json_object", "tool", "text", logprobs=False)
    client = backend()
    for _ in range(2):
        reply = await client.complete(Request(messages=ASK.messages, schema=SCHEMA, logprobs=5))
        assert (reply.response_format, reply.logprobs) == ("json_object", None)
    assert [("logprobs" in body, format_of(body)) for _, _, body in server.requests] == [
        (True, "json_schema"),
        (False, "json_schema"),
        (False, "json_object"),
        (False, "json_object"),
    ]


def test_a_late_refusal_of_an_old_format_does_not_downgrade_again():
    modes = SchemaModes()
    refusal = BackendError("response_format is unknown")
    assert modes.downgrade_on(400, refusal, "json_schema", None)
    assert modes.downgrade_on(400, refusal, "json_schema", None)
    assert modes.current == "json_object"

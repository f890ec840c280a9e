"""How an endpoint is asked for structure: the strictest form that it takes, found out once."""

from __future__ import annotations

import asyncio

import pytest

from hengwen.backends import OpenAIBackend
from hengwen.backends.openai.schema_modes import FORMS, SchemaModes
from hengwen.errors import BackendError, ConfigError
from hengwen.records import Request

SCHEMA = {"type": "object", "properties": {"level": {"type": "string", "enum": ["A", "B"]}}}
ASK = Request(messages=(("user", "Judge, answer in JSON"),), schema=SCHEMA)


def form_of(body) -> str:
    if "tools" in body:
        return "tool"
    return body.get("response_format", {"type": "text"})["type"]


def taking(server, *forms: str, status: int = 400, logprobs: bool = True) -> None:
    """Make a server that takes only some forms, and says so in the words of real ones."""
    words = {
        "json_schema": "This response_format type is unavailable now",
        "json_object": "Unknown response format: json_object",
        "tool": "No endpoints found that support tool use",
        "text": "down",
    }

    def decide(body) -> None:
        form = form_of(body)
        if body.get("logprobs") and not logprobs:
            server.reply({"error": {"message": "logprobs are not supported by this model"}}, status)
        elif form not in forms:
            server.reply({"error": {"message": words[form]}}, status)
        elif form == "tool":
            call = {"type": "function", "function": {"name": "verdict", "arguments": '{"level": "A"}'}}
            server.say(None, finish="tool_calls", tool_calls=[call])
        else:
            server.say('{"level": "A"}')

    server.decide = decide


@pytest.mark.parametrize("taken", FORMS)
@pytest.mark.parametrize("status", [400, 404, 422, 501])
async def test_the_strictest_form_that_is_taken_is_found_and_remembered(server, backend, taken, status):
    taking(server, taken, status=status)
    asked = backend()
    for _ in range(2):
        reply = await asked.complete(ASK)
        assert (reply.text, reply.form) == ('{"level": "A"}', taken)
    sent = [form_of(body) for _, _, body in server.requests]
    steps = list(FORMS[: FORMS.index(taken) + 1])
    assert sent == [*steps, taken]


async def test_calls_that_are_refused_together_take_one_step(server, backend):
    taking(server, "json_object", "tool", "text")
    server.delay = 0.05
    asked = backend()
    replies = await asyncio.gather(*(asked.complete(ASK) for _ in range(10)))
    assert {reply.form for reply in replies} == {"json_object"}
    assert len(server.requests) == 20


async def test_each_backend_finds_out_for_itself(server, backend):
    taking(server, "text")
    assert (await backend().complete(ASK)).form == "text"
    taking(server, *FORMS)
    assert (await backend().complete(ASK)).form == "json_schema"


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
async def test_another_error_moves_nothing(server, backend, status, message):
    server.reply({"error": {"message": message}}, status)
    asked = backend()
    with pytest.raises(BackendError, match=message):
        await asked.complete(ASK)
    assert len(server.requests) == 1
    server.say('{"level": "A"}')
    assert (await asked.complete(ASK)).form == "json_schema"


async def test_a_reply_that_ignores_the_schema_moves_nothing(server, backend):
    server.say("I like it")
    asked = backend()
    assert [(await asked.complete(ASK)).form for _ in range(2)] == ["json_schema"] * 2


async def test_a_refusal_of_plain_text_is_an_error(server, backend):
    taking(server)
    with pytest.raises(BackendError, match="down"):
        await backend().complete(ASK)
    assert [form_of(body) for _, _, body in server.requests] == list(FORMS)


@pytest.mark.parametrize("form", FORMS)
async def test_a_pinned_form_is_the_only_one(server, backend, form):
    taking(server, *FORMS)
    asked = backend(structured=form)
    assert (await asked.complete(ASK)).form == form
    assert asked.signature == f"openai/tiny|structured:{form}"
    taking(server)
    with pytest.raises(BackendError):
        await asked.complete(ASK)
    assert [form_of(body) for _, _, body in server.requests] == [form, form]


def test_an_unknown_form_is_refused():
    with pytest.raises(ConfigError, match="unknown structured 'json_shema'; did you mean 'json_schema'?"):
        OpenAIBackend(model="m", base_url="http://x/v1", structured="json_shema")


async def test_what_asks_for_no_structure_has_no_form(server, backend):
    reply = await backend(structured="tool").complete(Request(messages=ASK.messages))
    assert reply.form == ""
    assert set(server.requests[0][2]) == {"model", "messages"}


async def test_the_tool_has_the_schema_and_must_be_called(server, backend):
    taking(server, *FORMS)
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
    asked = Request(messages=ASK.messages, logprobs=5)
    other = [
        {"token": "A", "logprob": -1.5, "bytes": None},
        {"token": "\ufffd", "logprob": -2, "bytes": [228]},
    ]
    content = [{"token": "B", "logprob": -0.5, "bytes": [66], "top_logprobs": other}]
    choice = {"message": {"content": "B"}, "finish_reason": "stop", "logprobs": {"content": content}}
    server.reply({"choices": [choice]})
    reply = await backend().complete(asked)
    assert reply.logprobs == ((b"B", -0.5, ((b"A", -1.5), (b"\xe4", -2.0))),)
    assert (server.requests[0][2]["logprobs"], server.requests[0][2]["top_logprobs"]) == (True, 5)
    assert (await backend().complete(Request(messages=ASK.messages))).logprobs is None, "not asked for"


@pytest.mark.parametrize(
    "found",
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
async def test_log_probabilities_that_cannot_be_read_are_none(server, backend, found):
    server.reply({"choices": [{"message": {"content": "B"}, "logprobs": found}]})
    assert (await backend().complete(Request(messages=ASK.messages, logprobs=5))).logprobs is None


async def test_an_endpoint_without_log_probabilities_is_asked_for_them_once(server, backend):
    taking(server, "json_object", "tool", "text", logprobs=False)
    asked = backend()
    for _ in range(2):
        reply = await asked.complete(Request(messages=ASK.messages, schema=SCHEMA, logprobs=5))
        assert (reply.form, reply.logprobs) == ("json_object", None)
    assert [("logprobs" in body, form_of(body)) for _, _, body in server.requests] == [
        (True, "json_schema"),
        (False, "json_schema"),
        (False, "json_object"),
        (False, "json_object"),
    ]


def test_a_late_refusal_of_an_old_form_takes_no_second_step():
    forms = SchemaModes()
    refusal = BackendError("response_format is unknown")
    assert forms.moves_on(400, refusal, "json_schema", None)
    assert forms.moves_on(400, refusal, "json_schema", None)
    assert forms.form == "json_object"

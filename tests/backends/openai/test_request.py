"""The body of a chat completion: cached parts never belong to another request."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from hengwen.backends.openai import MAX_CACHED_ENDS, ChatRequestEncoder
from hengwen.errors import ConfigError
from hengwen.records import Request

ASK = (("user", "hi"),)


def encoded(
    encoder: ChatRequestEncoder, response_format: str = "json_schema", logprobs: int | None = None, **request
):
    return json.loads(encoder.encode(Request(**{"messages": ASK, **request}), response_format, logprobs))


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.tuples(st.sampled_from(["system", "user"]), st.text(max_size=30)), min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(["temperature", "top_p", "stop"]), st.integers() | st.text(max_size=5)),
    st.dictionaries(st.sampled_from(["temperature", "max_tokens"]), st.integers()),
)
def test_the_body_equals_that_of_a_plain_encoder(messages, params, more):
    body = encoded(ChatRequestEncoder("模型", params, limits=True), messages=tuple(messages), params=more)
    turns = [{"role": role, "content": content} for role, content in messages]
    assert body == {"model": "模型", "messages": turns, **params, **more}


def test_schemas_and_formats_are_not_mixed_up():
    encoder = ChatRequestEncoder("m", {}, limits=True)
    for _ in range(2):
        for number in range(2 * MAX_CACHED_ENDS):  # schemas die between the calls: their ids come again
            schema: dict = {"enum": [number]}
            sent = encoded(encoder, schema=schema)["response_format"]["json_schema"]["schema"]
            assert sent == schema
    schema = {"type": "object"}
    bodies = [
        encoded(encoder, response_format, logprobs, schema=schema)
        for response_format in ("json_schema", "tool")
        for logprobs in (None, 5)
    ]
    assert ["tools" in body for body in bodies] == [False, False, True, True]
    assert ["top_logprobs" in body for body in bodies] == [False, True, False, True]


def test_a_seed_grows_with_the_repeat():
    encoder = ChatRequestEncoder("m", {"seed": 7}, limits=True)
    assert [encoded(encoder, repeat=repeat)["seed"] for repeat in (1, 2, 5, 1)] == [7, 8, 11, 7]
    assert encoded(encoder, repeat=3, params={"seed": 0})["seed"] == 2
    assert "seed" not in encoded(ChatRequestEncoder("m", {}, limits=True), repeat=2)
    assert encoded(ChatRequestEncoder("m", {"seed": None}, limits=True), repeat=2)["seed"] is None


def test_lone_surrogates_are_replaced_wherever_they_stand():
    encoder = ChatRequestEncoder("m", {"stop": "a\udfff"}, limits=True)
    sent = json.loads(encoder.encode(Request(messages=(("user", "你\ud800"),)), "", None))
    assert (sent["messages"][0]["content"], sent["stop"]) == ("你\ufffd", "a\ufffd")


@each_row("value", [float("nan"), float("inf"), {1, 2}, b"x"])
def test_a_parameter_that_is_no_json_is_refused(value):
    with pytest.raises(ConfigError, match="params: 'temperature' cannot be sent: "):
        ChatRequestEncoder("m", {"temperature": value}, limits=True)

"""Recorded replies: equal requests get equal replies, an unknown one gets an error that names it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rows import each_row

from hengwen import registry
from hengwen.backends import OpenAIBackend, ReplayBackend
from hengwen.backends.replay import request_hash
from hengwen.errors import BackendError, ConfigError, DataError
from hengwen.protocols import Backend
from hengwen.records import Reply, Request, Usage

ASK = Request(messages=(("system", "Judge."), ("user", "Hello 你好")), identity="fixed", signature="s")


@pytest.fixture
def write(tmp_path: Path):
    def write(*lines: object) -> Path:
        path = tmp_path / "replies.jsonl"
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
        return path

    return write


async def test_a_recorded_reply_comes_back_whole(write):
    reply = Reply(
        text="你好",
        model="m-1",
        usage=Usage(calls=1, input_tokens=3, output_tokens=2),
        latency=0.5,
        finish="length",
        response_format="tool",
    )
    row = {"key": request_hash(ASK), "text": "你好", "model": "m-1", "finish": "length", "latency": 0.5}
    row |= {"form": "tool", "input_tokens": 3, "output_tokens": 2}
    backend = ReplayBackend(file=write(row))
    assert [await backend.complete(ASK) for _ in range(2)] == [reply, reply]


@pytest.mark.parametrize(
    "name",
    [
        {"key": request_hash(ASK)},
        {"identity": "fixed"},
        {"call_key": ASK.key("http://x/v1")},
    ],
    ids=["key", "identity", "call key"],
)
async def test_a_row_identifies_its_request_by_any_key_field(write, name):
    backend = ReplayBackend(file=write({**name, "text": "yes"}), base_url="http://x/v1")
    assert (await backend.complete(ASK)).text == "yes"


async def test_messages_identify_a_request_without_an_identity(write):
    turns = (("user", "Hello 你好"),)
    file = write(
        {"messages": [["user", "Hello 你好"]], "raw": "1"},
        {"messages": [list(turns[0])], "repeat": 2, "raw": "2"},
    )
    backend = ReplayBackend(file=file)
    assert [(await backend.complete(Request(messages=turns, repeat=r))).text for r in (1, 2)] == ["1", "2"]


async def test_an_unknown_request_is_an_error_that_names_it_and_is_not_retried(write):
    backend = ReplayBackend(file=write({"key": "0", "text": "x"}))
    with pytest.raises(BackendError) as caught:
        await backend.complete(ASK)
    assert not caught.value.retryable
    assert f"no reply is recorded for request {request_hash(ASK)[:16]}" in str(caught.value)
    assert "'Hello 你好'" in str(caught.value)


async def test_a_good_reply_wins_over_failed_attempts_of_the_same_request(write):
    bad = {"identity": "fixed", "status": "rate_limited", "raw": "busy"}
    backend = ReplayBackend(file=write(bad, {"identity": "fixed", "text": "yes", "status": "ok"}, bad))
    assert (await backend.complete(ASK)).text == "yes"
    failing = ReplayBackend(file=write(bad))
    with pytest.raises(BackendError, match="failed when it was recorded: rate_limited") as caught:
        await failing.complete(ASK)
    assert (caught.value.status, caught.value.raw, caught.value.retryable) == ("rate_limited", "busy", False)


async def test_a_list_of_replies_is_returned_in_order_and_ends():
    down = BackendError("down", retryable=True)
    backend = ReplayBackend(replies=["a", Reply(text="b"), down])
    assert [(await backend.complete(ASK)).text for _ in range(2)] == ["a", "b"]
    with pytest.raises(BackendError, match="down"):
        await backend.complete(ASK)
    with pytest.raises(BackendError, match="no reply is recorded"):
        await backend.complete(ASK)
    await backend.close()


@each_row(
    ("line", "words"),
    [
        ({"text": "x"}, "needs one of key, call_key, identity, messages, got none"),
        ({"key": "1", "identity": "2", "text": "x"}, "got key, identity"),
        ({"key": "1"}, "field 'text' is missing"),
        ({"key": "1", "text": 5}, "field 'text' is missing"),
        ({"messages": "hi", "text": "x"}, "messages must be a list"),
        ({"key": "1", "text": "x", "input_tokens": -1}, "'input_tokens' must be a number >= 0, got -1"),
        ({"key": "1", "text": "x", "latency": "long"}, "'latency' must be a number >= 0, got 'long'"),
    ],
)
def test_an_invalid_row_is_named(write, line, words):
    with pytest.raises(DataError, match=f"replies.jsonl:2: .*{words}"):
        ReplayBackend(file=write({"key": "0", "text": ""}, line))


def test_a_replay_needs_a_file_or_a_list():
    for arguments in ({}, {"file": "x.jsonl", "replies": []}):
        with pytest.raises(ConfigError, match="replay needs either file"):
            ReplayBackend(**arguments)


def test_signature_and_endpoint_can_be_those_of_the_recorded_run(write):
    params = {"temperature": 0}
    client = OpenAIBackend(model="m", base_url="http://x:1/v1", params=params)
    replayed = registry.build(
        "backends",
        "replay",
        {"file": str(write({"key": "0", "text": ""})), "recorded_from": "openai"},
        model="m",
        base_url="http://x:1/v1",
        api_key_env="K",
        params=params,
        timeout=3.0,
    )
    assert isinstance(replayed, Backend)
    assert (replayed.signature, replayed.endpoint) == (client.signature, client.endpoint)

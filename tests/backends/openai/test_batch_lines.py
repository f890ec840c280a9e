"""Lines of batch files: requests as the Batch API wants them, and replies in all their forms."""

from __future__ import annotations

import json

import pytest
from rows import each_row

from hengwen.backends.openai.backend import OpenAIBackend
from hengwen.backends.openai.batch_lines import BatchLine, BatchLines, read_line
from hengwen.errors import BackendError
from hengwen.records import Request

BODY = {"model": "m", "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> BatchLines:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-4f1c9e")
    return OpenAIBackend(model="m", base_url="http://127.0.0.1:1/v1").batch_lines()


def test_a_request_is_one_line(lines: BatchLines) -> None:
    line, response_format, logprobs = lines.encode(
        "id-1", Request(messages=(("user", "a\nb\u2028c"),), params={"temperature": 0})
    )
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line) == {
        "custom_id": "id-1",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "m", "messages": [{"role": "user", "content": "a\nb\u2028c"}], "temperature": 0},
    }
    assert (response_format, logprobs) == ("", None)


@each_row(
    ("value", "expected"),
    [
        ({"custom_id": "a", "response": {"status_code": 200, "body": BODY}}, ("a", 200, BODY)),
        ({"custom_id": "a", "response": {"body": BODY}}, ("a", 200, BODY)),
        (
            {"custom_id": "a", "response": {"status_code": 500, "body": None}, "error": {"x": 1}},
            ("a", 500, {"x": 1}),
        ),
        ({"custom_id": "a", "response": {"status_code": True}, "error": {"x": 1}}, ("a", 500, {"x": 1})),
        ({"custom_id": "a", "error": {"code": "batch_expired"}}, ("a", None, {"code": "batch_expired"})),
        ({"custom_id": "a"}, ("a", None, None)),
        ({"custom_id": 7, "response": {}}, None),
        ({"custom_id": ""}, None),
        ({"custom_id": "a" * 65}, None),
        ([], None),
        (None, None),
        ("text", None),
    ],
)
def test_a_line_is_read_leniently(value: object, expected: tuple | None) -> None:
    assert read_line(json.dumps(value).encode()) == (expected and BatchLine(*expected))


@each_row("raw", [b"", b"{", b"\xff", b"[" * 100_000, b'{"custom_id": 1e999}', b"9" * 5000])
def test_what_is_no_json_object_is_no_line(raw: bytes) -> None:
    assert read_line(raw) is None


def test_a_reply_is_read_with_its_format(lines: BatchLines) -> None:
    reply = lines.decode(BatchLine("a", 200, BODY), "json_schema")
    assert (reply.text, reply.model, reply.response_format, reply.latency) == ("hi", "m", "json_schema", 0.0)


@each_row(
    ("status", "body", "expected", "retryable"),
    [
        (None, {"code": "batch_expired", "message": "late"}, "timeout", True),
        (None, {"code": "batch_cancelled"}, "timeout", True),
        (None, None, "transport_error", True),
        (None, [{"a": "sk-planted-4f1c9e"}], "transport_error", True),
        (400, {"error": {"message": "too long"}}, "rejected", False),
        (401, "bad key sk-planted-4f1c9e", "rejected", False),
        (429, {"error": {"message": "slow"}}, "rate_limited", True),
        (429, {"error": {"code": "insufficient_quota"}}, "rate_limited", False),
        (500, None, "transport_error", True),
        (200, {"choices": [{"message": {"refusal": "no"}}]}, "refused", False),
        (200, None, "transport_error", True),
    ],
)
def test_a_failed_call_has_the_status_of_a_single_call(
    lines: BatchLines, status: int | None, body: object, expected: str, retryable: bool
) -> None:
    with pytest.raises(BackendError) as failed:
        lines.decode(BatchLine("a", status, body), "")
    assert (failed.value.status, failed.value.retryable) == (expected, retryable)
    assert "planted" not in str(failed.value) + failed.value.raw


def test_a_refused_format_is_noticed_once(lines: BatchLines) -> None:
    error = BackendError("the endpoint answered 400: response_format is unknown")
    schema = Request(messages=(("user", "?"),), schema={"type": "object"})
    assert lines.encode("a", schema)[1] == "json_schema"
    assert lines.schema_modes.downgrade_on(400, error, "json_schema", None)
    assert lines.schema_modes.downgrade_on(400, error, "json_schema", None)  # another call of the same file
    assert lines.encode("a", schema)[1] == "json_object"
    assert not lines.schema_modes.downgrade_on(None, error, "json_object", None)
    assert not lines.schema_modes.downgrade_on(400, BackendError("too long"), "json_object", None)

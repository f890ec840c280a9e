"""Convert the body of a chat completion to a Reply; raise a BackendError if the body is not usable."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from math import isnan
from typing import Any

from hengwen.backends.http.errors import MAX_RAW, message_of_error_body, redact
from hengwen.errors import BackendError
from hengwen.records import Reply, Usage
from hengwen.text.safety import replace_surrogates

MAX_COUNT = 2**53
"""Token counts of this size or more are ignored as wrong."""

Alternative = tuple[bytes, float]
"""A token that the model could have chosen: (bytes, log-probability)."""
Token = tuple[bytes, float, tuple[Alternative, ...]]
"""A token that the model chose: (bytes, log-probability, alternatives)."""


def read_reply(
    body: object,
    latency: float = 0.0,
    secrets: Iterable[str] = (),
    *,
    response_format: str = "",
    logprobs: bool = False,
) -> Reply:
    """Return the reply in a decoded body."""
    secrets = tuple(secrets)
    choice = _first_choice(body)
    message = choice.get("message") if choice is not None else None
    if choice is None or not isinstance(message, dict):
        words = redact(message_of_error_body(body), secrets)
        problem = (
            f"the endpoint answered with an error: {words}" if words else "the reply is no chat completion"
        )
        raise BackendError(problem, raw=raw_body(body, secrets), retryable=True)
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        raise BackendError("the model refused to answer", status="refused", raw=raw_body(body, secrets))
    arguments = _tool_arguments(message.get("tool_calls")) if response_format == "tool" else None
    text = arguments or _text(message.get("content"))
    if text is None:
        raise BackendError("the reply holds no text", raw=raw_body(body, secrets), retryable=True)
    assert isinstance(body, dict)
    return Reply(
        text=redact(text, secrets),
        model=redact(text_or_empty(body.get("model")), secrets),
        usage=read_usage(body.get("usage"), "prompt_tokens", "completion_tokens"),
        latency=latency,
        finish=redact(text_or_empty(choice.get("finish_reason")), secrets) or "stop",
        response_format=response_format,
        logprobs=read_logprobs(choice.get("logprobs")) if logprobs else None,
    )


def _first_choice(body: object) -> dict[str, Any] | None:
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _text(content: object) -> str | None:
    """Return the text of a message's content, which is a string or a list of parts; None if it is neither."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    return replace_surrogates(content) if isinstance(content, str) else None


def _tool_arguments(calls: object) -> str | None:
    """Return the arguments of all tool calls as one text, with one line per call."""
    if not isinstance(calls, list):
        return None
    functions = [call.get("function") for call in calls if isinstance(call, dict)]
    arguments = [function.get("arguments") for function in functions if isinstance(function, dict)]
    lines = [
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in arguments
    ]
    return replace_surrogates("\n".join(lines))


def text_or_empty(value: object) -> str:
    """Return a text without lone surrogates; "" for anything else."""
    return replace_surrogates(value) if isinstance(value, str) else ""


def read_usage(usage: object, input_tokens: str, output_tokens: str) -> Usage:
    """Return the tokens of one call from the fields with these names."""
    counts: Mapping[str, Any] = usage if isinstance(usage, dict) else {}
    return Usage(
        calls=1,
        input_tokens=_count(counts.get(input_tokens)),
        output_tokens=_count(counts.get(output_tokens)),
    )


def _count(value: object) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_COUNT
    return value if isinstance(value, int) and is_count else 0


def raw_body(body: object, secrets: Iterable[str]) -> str:
    """Return the body of a reply as it is kept with a failure: cut, and without secrets."""
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)
    return redact(replace_surrogates(text), secrets)[:MAX_RAW]


def read_logprobs(value: object) -> tuple[Token, ...] | None:
    """Read the field ``logprobs`` of a choice (one reply of a chat completion)."""
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(content, list) or not content:
        return None
    try:
        return tuple(
            (*_alternative(entry), tuple([_alternative(other) for other in entry.get("top_logprobs") or ()]))
            for entry in content
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _alternative(entry: dict[str, Any]) -> Alternative:
    raw_bytes, logprob = entry.get("bytes"), float(entry["logprob"])
    if isnan(logprob):
        raise ValueError("a log-probability is not a number")
    if isinstance(raw_bytes, list):
        return bytes(raw_bytes), logprob
    return entry["token"].encode("utf-8", "surrogatepass"), logprob

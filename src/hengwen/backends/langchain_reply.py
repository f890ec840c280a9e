"""Convert messages and exceptions of LangChain chat models to replies and errors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hengwen.backends.http.errors import causes_of, no_answer_in_time, redact, short_message, status_error
from hengwen.backends.openai.reply import read_logprobs, read_reply, read_usage
from hengwen.errors import BackendError
from hengwen.records import Reply
from hengwen.text.safety import replace_surrogates

if TYPE_CHECKING:
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

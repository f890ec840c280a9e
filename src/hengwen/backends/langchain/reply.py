"""From what a LangChain chat model gives, or raises, to a Reply or the error that it amounts to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hengwen.backends.http.errors import redact, status_error
from hengwen.backends.openai.logprobs import read_logprobs
from hengwen.backends.openai.reply import read_reply
from hengwen.errors import BackendError
from hengwen.io.text_safety import replace_surrogates
from hengwen.records import Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from langchain_core.messages import BaseMessage

CUT = ("length", "max_tokens", "max_output_tokens", "model_length")
WITHHELD = ("content_filter", "safety", "refusal", "prohibited_content", "blocklist", "recitation")
"""Why providers stop, in their own words."""


def reply_of(
    message: BaseMessage, latency: float, secrets: Iterable[str], *, form: str, logprobs: bool
) -> Reply:
    """Return the reply in a message.

    Args:
        message: Of the model.
        latency: Seconds that it took.
        secrets: What must not stand in the reply.
        form: How the schema was sent; a tool call makes it ``tool``, whatever was wanted.
        logprobs: Whether log-probabilities were asked for.

    Raises:
        BackendError: The model refused.

    Examples:
        >>> from langchain_core.messages import AIMessage
        >>> said = AIMessage("hi", response_metadata={"stop_reason": "max_tokens", "model": "m"})
        >>> reply = reply_of(said, 0.5, (), form="", logprobs=False)
        >>> reply.text, reply.finish, reply.model
        ('hi', 'length', 'm')
    """
    hidden = tuple(secrets)
    about: Mapping[str, Any] = message.response_metadata
    refusal = message.additional_kwargs.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        raise BackendError("the model refused to answer", status="refused", raw=redact(refusal, hidden))
    arguments = "\n".join(_arguments(message)) if form else ""
    return Reply(
        text=redact(replace_surrogates(arguments or "".join(_texts(message.content))), hidden),
        model=str(about.get("model_name") or about.get("model") or ""),
        usage=_usage(getattr(message, "usage_metadata", None)),
        latency=latency,
        finish=_finish(about),
        form="tool" if arguments else form,
        logprobs=read_logprobs(about.get("logprobs")) if logprobs else None,
    )


def _texts(content: object) -> Iterator[str]:
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield text


def _arguments(message: BaseMessage) -> Iterator[str]:
    """Yield the arguments of each tool call, as they came where that is known."""
    raw = message.additional_kwargs.get("tool_calls")
    if isinstance(raw, list) and raw:
        for call in raw:
            yield str(call.get("function", {}).get("arguments", ""))
        return
    for call in getattr(message, "tool_calls", ()):
        yield json.dumps(call["args"], ensure_ascii=False)
    for call in getattr(message, "invalid_tool_calls", ()):
        yield str(call["args"] or "")


def _finish(about: Mapping[str, Any]) -> str:
    said = next(
        (about[name] for name in ("finish_reason", "stop_reason", "done_reason") if about.get(name)), ""
    )
    words = str(said).lower()
    if words in CUT:
        return "length"
    return "content_filter" if words in WITHHELD else words or "stop"


def _usage(found: object) -> Usage:
    counts = found if isinstance(found, dict) else {}
    given = [counts.get(name) for name in ("input_tokens", "output_tokens")]
    tokens = [count if isinstance(count, int) and count >= 0 else 0 for count in given]
    return Usage(calls=1, input_tokens=tokens[0], output_tokens=tokens[1])


def cut_reply(error: BaseException, latency: float, secrets: Iterable[str], form: str) -> Reply | None:
    """Return the reply in an error that some clients raise where a reply was cut off; None for other errors.

    Args:
        error: As raised.
        latency: Seconds that it took.
        secrets: What must not stand in the reply.
        form: How the schema was sent.
    """
    completion = getattr(error, "completion", None)
    dump = getattr(completion, "model_dump", None)
    return None if dump is None else read_reply(dump(), latency, secrets, form=form)


def error_of(
    error: Exception, *, endpoint: str, timeout: float, secrets: Iterable[str], api_key_env: str
) -> tuple[int, BackendError]:
    """Return the HTTP status of an error (0 where it has none) and what it means.

    Args:
        error: As a chat model raised it.
        endpoint: For the message.
        timeout: Seconds that a call had.
        secrets: What must not be shown.
        api_key_env: The variable that holds the key.

    Examples:
        >>> found = error_of(TimeoutError(), endpoint="e", timeout=2, secrets=(), api_key_env="K")
        >>> found[1].status, str(found[1])
        ('timeout', 'no answer from e within 2 s')
    """
    hidden = tuple(secrets)
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    if isinstance(status, int) and 300 <= status < 600:
        headers = getattr(response, "headers", {})
        body = getattr(response, "text", None) or str(error)
        return status, status_error(status, headers, body, secrets=hidden, api_key_env=api_key_env)
    chain = list(_causes(error))
    names = " ".join(type(one).__name__ for one in chain).lower()
    if "timeout" in names:
        return 0, BackendError(
            f"no answer from {endpoint} within {timeout:g} s", status="timeout", retryable=True
        )
    if "contentfilter" in names:
        return 0, BackendError("the reply was withheld by a content filter", status="refused")
    words = redact(str(chain[-1]), hidden) or type(chain[-1]).__name__
    may_help = any(isinstance(one, (OSError, json.JSONDecodeError)) for one in chain) or "connect" in names
    kind = "" if may_help else f"{type(error).__name__}: "
    return 0, BackendError(f"no answer from {endpoint}: {kind}{words}", retryable=may_help)


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__

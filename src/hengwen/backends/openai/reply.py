"""From the body of a chat completion to a Reply, or to the error that it amounts to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hengwen.backends.http.errors import RAW_LIMIT, error_words, redact
from hengwen.backends.openai.logprobs import read_logprobs
from hengwen.errors import BackendError
from hengwen.io.text_safety import replace_surrogates
from hengwen.records import Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def read_reply(
    body: object,
    latency: float = 0.0,
    secrets: Iterable[str] = (),
    *,
    form: str = "",
    logprobs: bool = False,
) -> Reply:
    """Read a parsed body.

    Args:
        body: What the endpoint sent, JSON already decoded; a string where it was no JSON.
        latency: Seconds that it took.
        secrets: What must not stand in the reply, should the endpoint echo it.
        form: How the schema was sent; of a ``tool`` the arguments are the text, where it was called.
        logprobs: Whether log-probabilities were asked for.

    Raises:
        BackendError: It is no chat completion (retryable), or a refusal (``refused``).

    Examples:
        >>> choice = {"message": {"content": "hi"}, "finish_reason": "stop"}
        >>> reply = read_reply({"model": "m", "choices": [choice], "usage": {"prompt_tokens": 3}})
        >>> reply.text, reply.model, reply.usage
        ('hi', 'm', Usage(calls=1, input_tokens=3, output_tokens=0))
    """
    hidden = tuple(secrets)
    choice = _first_choice(body)
    message = choice.get("message") if choice is not None else None
    if choice is None or not isinstance(message, dict):
        words = redact(error_words(body), hidden)
        what = f"the endpoint answered with an error: {words}" if words else "the reply is no chat completion"
        raise BackendError(what, raw=_raw(body, hidden), retryable=True)
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        raise BackendError("the model refused to answer", status="refused", raw=_raw(body, hidden))
    text = (_arguments(message.get("tool_calls")) if form == "tool" else None) or _text(
        message.get("content")
    )
    if text is None:
        raise BackendError("the reply holds no text", raw=_raw(body, hidden), retryable=True)
    assert isinstance(body, dict)
    return Reply(
        text=redact(text, hidden),
        model=_clean(body.get("model")),
        usage=_usage(body.get("usage")),
        latency=latency,
        finish=_clean(choice.get("finish_reason")) or "stop",
        form=form,
        logprobs=read_logprobs(choice.get("logprobs")) if logprobs else None,
    )


def _first_choice(body: object) -> dict[str, Any] | None:
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _text(content: object) -> str | None:
    """Return the text of a content: a string, parts of it, or nothing."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    return replace_surrogates(content) if isinstance(content, str) else None


def _arguments(calls: object) -> str | None:
    """Return the arguments of all tool calls, a line each: that two were made must not be lost."""
    if not isinstance(calls, list):
        return None
    functions = [call.get("function") for call in calls if isinstance(call, dict)]
    found = [function.get("arguments") for function in functions if isinstance(function, dict)]
    said = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in found]
    return replace_surrogates("\n".join(said))


def _clean(value: object) -> str:
    return replace_surrogates(value) if isinstance(value, str) else ""


def _usage(usage: object) -> Usage:
    found: Mapping[str, Any] = usage if isinstance(usage, dict) else {}
    return Usage(
        calls=1,
        input_tokens=_count(found.get("prompt_tokens")),
        output_tokens=_count(found.get("completion_tokens")),
    )


def _count(value: object) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if isinstance(value, int) and is_count else 0


def _raw(body: object, secrets: Iterable[str]) -> str:
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)
    return redact(replace_surrogates(text), secrets)[:RAW_LIMIT]

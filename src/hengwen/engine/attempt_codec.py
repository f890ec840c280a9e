"""Replies kept in attempts, and read from them again as they were; but what is read again costs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.records import Reply

if TYPE_CHECKING:
    from hengwen.records import Attempt


def extras_of(reply: Reply) -> dict[str, Any]:
    """Return what a reply has beside its text, as plain values; token bytes as latin-1.

    Examples:
        >>> extras_of(Reply(text="A", form="tool", logprobs=((b"A", -0.1, ()),)))
        {'form': 'tool', 'logprobs': [['A', -0.1, []]]}
    """
    found: dict[str, Any] = {}
    if reply.form:
        found["form"] = reply.form
    if reply.logprobs is not None:
        found["logprobs"] = [
            [token.decode("latin-1"), value, [[other.decode("latin-1"), its] for other, its in others]]
            for token, value, others in reply.logprobs
        ]
    return found


def reply_of(attempt: Attempt) -> Reply:
    """Return the reply of a good attempt; its usage is empty."""
    tokens = attempt.extras.get("logprobs")
    return Reply(
        text=attempt.raw,
        model=attempt.model,
        latency=attempt.latency,
        finish=attempt.finish or "stop",
        form=attempt.extras.get("form", ""),
        logprobs=None
        if tokens is None
        else tuple(
            (token.encode("latin-1"), value, tuple((other.encode("latin-1"), its) for other, its in others))
            for token, value, others in tokens
        ),
    )

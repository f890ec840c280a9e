"""Convert replies to stored attempts (an attempt is one sent call) and back.

A reply that is read from the store reports zero tokens used, because it is not paid for again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.records import Reply

if TYPE_CHECKING:
    from hengwen.records import Attempt


def extras_of(reply: Reply) -> dict[str, Any]:
    """Return the response format and log-probabilities of a reply as JSON values."""
    extras: dict[str, Any] = {}
    if reply.response_format:
        extras["form"] = reply.response_format
    if reply.logprobs is not None:
        extras["logprobs"] = [
            [token.decode("latin-1"), logprob, [[other.decode("latin-1"), value] for other, value in others]]
            for token, logprob, others in reply.logprobs
        ]
    return extras


def reply_of(attempt: Attempt) -> Reply:
    """Return the reply of a stored successful call, with zero used tokens: it is not paid for again."""
    tokens = attempt.extras.get("logprobs")
    return Reply(
        text=attempt.raw,
        model=attempt.model,
        latency=attempt.latency,
        finish=attempt.finish or "stop",
        response_format=attempt.extras.get("form", ""),
        logprobs=None
        if tokens is None
        else tuple(
            (
                token.encode("latin-1"),
                logprob,
                tuple((other.encode("latin-1"), value) for other, value in others),
            )
            for token, logprob, others in tokens
        ),
    )

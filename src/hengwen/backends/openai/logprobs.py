"""The log-probabilities in a chat completion, as ``Reply.logprobs`` has them."""

from __future__ import annotations

from math import isnan
from typing import Any

Alternative = tuple[bytes, float]
Token = tuple[bytes, float, tuple[Alternative, ...]]


def read_logprobs(found: object) -> tuple[Token, ...] | None:
    """Read the ``logprobs`` of a choice.

    Args:
        found: As the endpoint sent it.

    Returns:
        None where there are none, or one cannot be read: half of them would be worse than none.

    Examples:
        >>> said = {"token": "B", "logprob": -0.5, "bytes": [66], "top_logprobs": []}
        >>> read_logprobs({"content": [said]})
        ((b'B', -0.5, ()),)
        >>> read_logprobs({"content": [{"token": "B"}]}) is None
        True
    """
    content = found.get("content") if isinstance(found, dict) else None
    if not isinstance(content, list) or not content:
        return None
    try:
        return tuple(
            (*_pair(entry), tuple([_pair(other) for other in entry.get("top_logprobs") or ()]))
            for entry in content
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _pair(entry: dict[str, Any]) -> Alternative:
    said, logprob = entry.get("bytes"), float(entry["logprob"])
    if isnan(logprob):
        raise ValueError("a log-probability is no number")
    text = bytes(said) if isinstance(said, list) else entry["token"].encode("utf-8", "surrogatepass")
    return text, logprob

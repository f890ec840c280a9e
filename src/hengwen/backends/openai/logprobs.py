"""Convert the log-probabilities of a chat completion to the structure of ``Reply.logprobs``."""

from __future__ import annotations

from math import isnan
from typing import Any

Alternative = tuple[bytes, float]
"""A token that the model could have chosen: (bytes, log-probability)."""
Token = tuple[bytes, float, tuple[Alternative, ...]]
"""A token that the model chose: (bytes, log-probability, alternatives)."""


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

"""Costs of calls: estimated before a call, added up after it; unknown if the model has no price."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from hengwen.errors import BackendError
from hengwen.records import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hengwen.records import Request

OUTPUT_TOKENS = 400
"""Expected output tokens of a call without ``max_tokens``; about the length of a judge's reply with a
reason."""
MESSAGE_TOKENS = 4
"""Estimated tokens of each message in addition to its text."""
MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Prices of a million input tokens and a million output tokens."""

    input: float
    output: float

    def cost(self, usage: Usage) -> float:
        """Return the cost of calls that used the given numbers of tokens."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / MILLION


def estimate(request: Request, params: Mapping[str, object] | None = None) -> Usage:
    """Return the expected numbers of input and output tokens of a call."""
    input_tokens = sum(MESSAGE_TOKENS + estimate_tokens(content) for _, content in request.messages)
    merged = {**(params or {}), **request.params}
    limit = merged.get("max_completion_tokens") or merged.get("max_tokens")
    output_tokens = limit if isinstance(limit, int) else OUTPUT_TOKENS
    return Usage(calls=1, input_tokens=input_tokens, output_tokens=output_tokens)


def estimate_tokens(text: str) -> int:
    """Return the estimated number of tokens of a text."""
    size = len(text)
    wide = 0 if text.isascii() else (len(text.encode("utf-8", "replace")) - size) // 2
    return min(size, wide + ceil((size - wide) / 4))


class Budget:
    """Limit of the cost of all calls. A call that has no reply yet counts with its estimated cost."""

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self.spent = 0.0
        self.reserved = 0.0
        self.stopped = False

    def reserve(self, price: Price | None, expected: Usage) -> float:
        """Reserve the expected cost of a call, and return it."""
        if self.limit is None or price is None:
            return 0.0
        cost = price.cost(expected)
        if self.spent + self.reserved + cost > self.limit:
            self.stopped = True
            raise BackendError(
                f"budget of {self.limit:g} would be exceeded ({self.spent:.4f} spent)", status="budget"
            )
        self.reserved += cost
        return cost

    def charge(self, reserved: float, price: Price | None, usage: Usage) -> None:
        """Replace the reserved cost of a call by its actual cost."""
        self.reserved -= reserved
        if price is not None:
            self.spent += price.cost(usage)


def total(prices: Iterable[tuple[Price | None, Usage]]) -> float | None:
    """Return the cost of all calls; None if the price of a call is unknown."""
    cost = 0.0
    for price, usage in prices:
        if price is not None:
            cost += price.cost(usage)
        elif usage.calls:
            return None
    return cost

"""Costs of calls: estimated before a call, added up after it; unknown if the model has no price."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING

from hengwen.errors import BackendError
from hengwen.records import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.records import Request

OUTPUT_TOKENS = 400
"""Expected output tokens of a call without ``max_tokens``, such as a judge's reply with a reason."""
MESSAGE_TOKENS = 4
"""Estimated tokens of each message in addition to its text."""
MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Prices of a million input tokens and a million output tokens."""

    input: float
    output: float
    currency: str = ""
    """Such as ``USD``; empty if it is not stated."""
    source: str = "plan"
    """Who stated it: ``plan``, ``--price``, or the date of the list of prices."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What the calls of a command have used and cost."""

    usage: Usage = field(default_factory=Usage)
    costs: Mapping[str, float] = field(default_factory=dict)
    """Cost in each currency."""
    has_unpriced_calls: bool = False
    """Whether the price of a call is unknown, so that ``costs`` lacks it."""
    seconds: float = 0.0

    def __add__(self, other: Bill) -> Bill:
        """Return the bill of two processes that worked at the same time."""
        names = {*self.costs, *other.costs}
        return Bill(
            usage=self.usage + other.usage,
            costs={name: self.costs.get(name, 0.0) + other.costs.get(name, 0.0) for name in sorted(names)},
            has_unpriced_calls=self.has_unpriced_calls or other.has_unpriced_calls,
            seconds=max(self.seconds, other.seconds),
        )


class Budget:
    """Limit of the cost of all calls. A call that has no reply yet counts with its estimated cost."""

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self.reserved = 0.0
        self.usage = Usage()
        self.costs: defaultdict[str, float] = defaultdict(float)
        """Cost of the calls so far, in each currency."""
        self.has_unpriced_calls = False
        self.stopped = False
        self._started_at = time.monotonic()

    @property
    def spent(self) -> float:
        """Cost of the calls so far; a limit needs prices in one currency."""
        return sum(self.costs.values())

    def bill(self) -> Bill:
        """Return what the calls have used so far, and the time since the budget was made."""
        return Bill(
            usage=self.usage,
            costs=dict(self.costs),
            has_unpriced_calls=self.has_unpriced_calls,
            seconds=time.monotonic() - self._started_at,
        )

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
        self.usage += usage
        if price is None:
            self.has_unpriced_calls |= usage.calls > 0
        elif usage.calls:
            self.costs[price.currency] += price.cost(usage)

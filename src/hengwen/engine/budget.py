"""What calls cost: estimates before, sums after. An unknown price stays unknown, and is never zero."""

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
"""Expected of a call that sets no ``max_tokens``: a verdict with its reason."""
MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Of a million tokens."""

    input: float
    output: float

    def of(self, usage: Usage) -> float:
        """Return the cost of some calls.

        Examples:
            >>> Price(input=1.0, output=2.0).of(Usage(calls=1, input_tokens=500_000, output_tokens=250_000))
            1.0
        """
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / MILLION


def estimate(request: Request, params: Mapping[str, object] | None = None) -> Usage:
    """Return what a call is expected to use: a token for a CJK character, a quarter for others.

    Args:
        request: The call.
        params: Of the backend; ``max_tokens`` is what the answer is expected to take, where one is set.

    Examples:
        >>> from hengwen.records import Request
        >>> estimate(Request(messages=(("user", "四个字啊 and so on"),), params={"max_tokens": 50}))
        Usage(calls=1, input_tokens=11, output_tokens=50)
    """
    given = sum(4 + estimate_tokens(content) for _, content in request.messages)
    said = {**(params or {}), **request.params}
    most = said.get("max_completion_tokens") or said.get("max_tokens")
    return Usage(calls=1, input_tokens=given, output_tokens=most if isinstance(most, int) else OUTPUT_TOKENS)


def estimate_tokens(text: str) -> int:
    """Return the tokens of a text, by estimate.

    Examples:
        >>> estimate_tokens("四个字啊"), estimate_tokens("four")
        (4, 1)
    """
    size = len(text)
    wide = 0 if text.isascii() else (len(text.encode("utf-8", "replace")) - size) // 2
    return min(size, wide + ceil((size - wide) / 4))


class Budget:
    """A sum that calls must not pass. What is in flight counts with its estimate.

    Args:
        limit: In the currency of the prices; None for no limit.
    """

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self.spent = 0.0
        self.reserved = 0.0
        self.stopped = False

    def reserve(self, price: Price | None, expected: Usage) -> float:
        """Set the expected cost of a call aside.

        Raises:
            BackendError: Of status ``budget``: the call might pass the limit.
        """
        if self.limit is None or price is None:
            return 0.0
        cost = price.of(expected)
        if self.spent + self.reserved + cost > self.limit:
            self.stopped = True
            raise BackendError(
                f"the budget of {self.limit:g} would be passed: {self.spent:.4f} are spent", status="budget"
            )
        self.reserved += cost
        return cost

    def settle(self, reserved: float, price: Price | None, used: Usage) -> None:
        """Replace what was set aside by what a call cost."""
        self.reserved -= reserved
        if price is not None:
            self.spent += price.of(used)


def total(prices: Iterable[tuple[Price | None, Usage]]) -> float | None:
    """Return the cost of calls, or None where a price of paid calls is unknown.

    Examples:
        >>> total([(Price(input=1, output=1), Usage(calls=1, input_tokens=MILLION))])
        1.0
        >>> total([(None, Usage(calls=1, input_tokens=10))]) is None
        True
    """
    cost = 0.0
    for price, usage in prices:
        if price is not None:
            cost += price.of(usage)
        elif usage.calls:
            return None
    return cost

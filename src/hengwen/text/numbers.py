"""Format numbers, counts and times, so that every document prints the same digits."""

from __future__ import annotations

import re
from math import floor
from typing import TYPE_CHECKING, Protocol

from hengwen.text.safety import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Range(Protocol):
    """Ends of the values of a score."""

    @property
    def low(self) -> float:
        """Least value."""

    @property
    def high(self) -> float:
        """Greatest value."""


MAX_REASON = 160
"""Maximum number of characters of a failure's message that is shown."""
NOTHING = "–"
"""Text that is printed if there is no number."""


def decimals_for(scale: Range | None, values: Iterable[float | None] = ()) -> int:
    """Return the number of decimals of a score everywhere, from its scale or its largest value."""
    span = scale.high - scale.low if scale else max((abs(v) for v in values if v is not None), default=0.0)
    steps = ((5000, 0), (20, 1), (0, 2)) if scale else ((1000, 0), (10, 1), (0.1, 2), (0, 3))
    return next(decimals for min_span, decimals in steps if span >= min_span)


def number(value: float | None, decimals: int = 3) -> str:
    """Format a number with fixed decimals, never a negative zero; a dash for None."""
    if value is None:
        return NOTHING
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def signed_difference(first: float | None, last: float | None, decimals: int = 3) -> str:
    """Format a difference (last - first) with its sign; zero has no sign."""
    if first is None or last is None:
        return NOTHING
    text = number(last - first, decimals)
    return f"+{text}" if last > first and float(text) != 0 else text


def signed(difference: float | None, decimals: int = 3) -> str:
    """Format a difference with its sign; zero has no sign."""
    return signed_difference(None if difference is None else 0.0, difference, decimals)


def minus(text: str) -> str:
    """Return a number with a minus sign instead of a hyphen, as a page prints it."""
    return text.replace("-", "\N{MINUS SIGN}")


def p_number(p: float) -> str:
    """Format a p-value with three decimals, as ``.020``, ``< .001`` or ``1``."""
    if p < 0.001:
        return "< .001"
    return "1" if p >= 0.9995 else f"{p:.3f}".removeprefix("0")


def p_text(p: float, name: str = "p") -> str:
    """Format a p-value with its name and sign, as ``p = .020``, ``p < .001`` or ``p = 1``."""
    number_text = p_number(p)
    return f"{name} {number_text}" if number_text.startswith("<") else f"{name} = {number_text}"


def level_text(level: float) -> str:
    """Format a significance level, with a fourth decimal below .01, where p-values are compared with it."""
    return f"{level:.{4 if level < 0.01 else 3}f}".removeprefix("0")


def interval(bounds: tuple[float, float] | None, decimals: int = 3) -> str:
    """Format an interval in square brackets; a dash for None."""
    return NOTHING if bounds is None else f"[{number(bounds[0], decimals)}, {number(bounds[1], decimals)}]"


def percent(share: float | None) -> str:
    """Format a share as a percentage, rounded down: only 1.0 is printed as 100%."""
    if share is None:
        return NOTHING
    tenths = floor(share * 1000 + 1e-9)
    return f"{tenths // 10}%" if tenths % 10 == 0 else f"{tenths / 10:.1f}%"


def without_fraction(value: float) -> int | float:
    """Return a number as an int if it is whole."""
    return int(value) if value == int(value) else value


def count(value: float) -> str:
    """Format a count with thousands separators."""
    return f"{value:,}"


def scale_text(scale: Range | None) -> str:
    """Format the ends of a scale; empty for None."""
    return "" if scale is None else f"{scale.low:g}–{scale.high:g}"


def plural(n: int, noun: str, plural_noun: str = "") -> str:
    """Return a count with its noun."""
    return f"{n} {noun if n == 1 else plural_noun or noun + 's'}"


def counted(n: int, noun: str) -> str:
    """Return a count with thousands separators, with its noun."""
    return f"{count(n)} {noun if n == 1 else noun + 's'}"


def failure_texts(failures: Mapping[str, int], first_messages: Mapping[str, str]) -> list[str]:
    """Return a text for each status, the most frequent first, with the message of its first failure."""
    return [
        f"{n} {status}" + (f" (first: {one_line(message, MAX_REASON)})" if message else "")
        for status, n in sorted(failures.items(), key=lambda item: -item[1])
        for message in (first_messages.get(status, ""),)
    ]


def format_timestamp(time: str) -> str:
    """Format an ISO 8601 time in UTC to the second; return other text unchanged."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)", time)
    return f"{match[1]} {match[2]} UTC" if match else time

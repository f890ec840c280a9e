"""Format numbers, so that every report format prints the same digits."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hengwen.records import Scale

NOTHING = "–"
"""Text that is printed if there is no number."""


def decimals_for(scale: Scale | None, values: Iterable[float | None] = ()) -> int:
    """Return the number of decimals for the means of one score, from its scale or its largest value.

    Args:
        scale: Scale of the score; None if the score has no scale.
        values: All values of a table row, which get the same number of decimals; None is skipped.

    Returns:
        Number of decimals. With a scale: 0 if the scale spans at least 5000, 1 if it spans at least 20 (such
        as 0-100), 2 if it spans at least 2 (1-5), else 3 (0-1). Without a scale: 0 if the largest value is at
        least 1000, 1 if it is at least 10, 2 if it is at least 1, else 3.

    Examples:
        >>> from hengwen.records import Scale
        >>> decimals_for(Scale(low=0, high=100)), decimals_for(Scale(low=0, high=1))
        (1, 3)
        >>> decimals_for(None, [0.5, None, 12.0])
        1
    """
    span = scale.high - scale.low if scale else max((abs(v) for v in values if v is not None), default=0.0)
    steps = ((5000, 0), (20, 1), (2, 2)) if scale else ((1000, 0), (10, 1), (1, 2))
    return next((decimals for min_span, decimals in steps if span >= min_span), 3)


def number(value: float | None, decimals: int = 3) -> str:
    """Format a number with fixed decimals, never a negative zero; a dash for None.

    Examples:
        >>> number(83.868, 1), number(-0.0004, 2), number(None)
        ('83.9', '0.00', '–')
    """
    if value is None:
        return NOTHING
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def signed_difference(first: float | None, last: float | None, decimals: int = 3) -> str:
    """Format a difference (last - first) with its sign; zero has no sign.

    Examples:
        >>> signed_difference(1.0, 1.25, 2), signed_difference(2.0, 1.0, 1), signed_difference(None, 1.0)
        ('+0.25', '-1.0', '–')
        >>> signed_difference(1.0, 1.0001, 2)
        '0.00'
    """
    if first is None or last is None:
        return NOTHING
    text = number(last - first, decimals)
    return f"+{text}" if last > first and float(text) != 0 else text


def signed(difference: float | None, decimals: int = 3) -> str:
    """Format a difference with its sign; zero has no sign.

    Examples:
        >>> signed(0.25, 2), signed(-1.0, 1), signed(0.0001, 2), signed(None)
        ('+0.25', '-1.0', '0.00', '–')
    """
    return signed_difference(None if difference is None else 0.0, difference, decimals)


def p_text(p: float) -> str:
    """Format a p-value with its relation sign; values below .0001 become ``< .0001``.

    Examples:
        >>> [p_text(p) for p in (0.0078125, 0.2, 1.0, 1e-9)]
        ['= .0078', '= .20', '= 1.00', '< .0001']
    """
    if p < 0.0001:
        return "< .0001"
    decimals = 4 if p < 0.01 else 3 if p < 0.1 else 2
    text = f"{p:.{decimals}f}"
    return f"= {text if p >= 0.995 else text.removeprefix('0')}"


def interval(bounds: tuple[float, float] | None, decimals: int = 3) -> str:
    """Format an interval in square brackets; a dash for None.

    Examples:
        >>> interval((72.08, 80.93), 1), interval(None)
        ('[72.1, 80.9]', '–')
    """
    return NOTHING if bounds is None else f"[{number(bounds[0], decimals)}, {number(bounds[1], decimals)}]"


def percent(share: float | None) -> str:
    """Format a share as a percentage, rounded down: only 1.0 is printed as 100%.

    Examples:
        >>> percent(1.0), percent(0.9999), percent(11 / 12), percent(0.95), percent(None)
        ('100%', '99.9%', '91.6%', '95%', '–')
    """
    if share is None:
        return NOTHING
    tenths = floor(share * 1000 + 1e-9)
    return f"{tenths // 10}%" if tenths % 10 == 0 else f"{tenths / 10:.1f}%"


def count(value: int) -> str:
    """Format a count with thousands separators.

    Examples:
        >>> count(1234567)
        '1,234,567'
    """
    return f"{value:,}"


def scale_text(scale: Scale | None) -> str:
    """Format the ends of a scale; empty for None.

    Examples:
        >>> from hengwen.records import Scale
        >>> scale_text(Scale(low=0, high=100)), scale_text(None)
        ('0–100', '')
    """
    return "" if scale is None else f"{scale.low:g}–{scale.high:g}"

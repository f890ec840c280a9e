"""Marks of a terminal: courses as bars of eight heights, differences as lines around 0."""

from __future__ import annotations

import os
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.documents.blocks import Bar, Point

HEIGHTS = "▁▂▃▄▅▆▇█"
_NARROW = str.maketrans(f"{HEIGHTS}─│┼┊●◆○▲▼◇✕–−→…·×≥≤±", "12345678-|+:**o^v?x-->..x><~")
"""Marks whose width is ambiguous, and what stands for them where they would take two columns."""
_EAST_ASIAN = ("gb", "cp936", "big5", "cp950", "shift", "cp932", "euc")
"""Beginnings of the names of encodings whose terminals draw such marks double."""


def marks_are_wide(encoding: str) -> bool:
    """Return whether the terminal draws marks of ambiguous width over two columns."""
    chosen = os.environ.get("VTE_CJK_WIDTH", "").lower()
    return chosen in ("1", "wide") if chosen else encoding.lower().startswith(_EAST_ASIAN)


def narrow(text: str) -> str:
    """Return a text with digits and ASCII in place of marks, one column each."""
    return text.translate(_NARROW)


def course(points: Sequence[Point]) -> str:
    """Return points as heights over the range of their intervals; a gap for a point without a value."""
    values = [point.value for point in points if point.value is not None]
    if not values:
        return ""
    ends = [end for point in points for end in (point.interval or ())] + values
    low, span = min(ends), (max(ends) - min(ends)) or 1.0
    return "".join(
        " " if point.value is None else HEIGHTS[min(7, int((point.value - low) / span * 8))]
        for point in points
    )


def difference_bar(bar: Bar, width: int) -> str:
    """Return an interval as a line with its value; it crosses the column of its limit only if it holds it.

    Of a limit other than 0, the column is dotted.
    """
    ends = bar.limits[::-1] if bar.lower_is_better else bar.limits
    limit, low, high = bar.reference, *ends
    span = (high - low) or 1.0

    def column(value: float, side: int = 0) -> int:
        share = min(max((value - low) / span, 0.0), 1.0) if isfinite(value) else float(side > 0)
        return round(share * (width - 1))

    at = None if limit is None else column(limit)
    first, last = bar.family_interval or bar.interval or (bar.value, bar.value)
    if bar.lower_is_better:
        first, last = last, first
    columns = [column(first, -1), column(bar.value), column(last, 1)]
    if limit is not None and at is not None and not min(first, last) <= limit <= max(first, last):
        is_right = (first > limit) != bar.lower_is_better
        near, beyond = (max, at + 1) if is_right else (min, at - 1)
        columns = [min(max(near(position, beyond), 0), width - 1) for position in columns]
    cells = [" "] * width
    if at is not None:
        cells[at] = "┊" if limit else "│"
    for i in range(columns[0], columns[2] + 1):
        cells[i] = "┼" if i == at else "─"
    cells[columns[1]] = "●"
    return "".join(cells)

"""Mark the lines of a section that rhyme: those whose ends have the same rhyme class."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

Line = TypeVar("Line")


def mark_rhymes(readings: Sequence[tuple[str, Line, Line]]) -> tuple[Line, ...]:
    """Return the lines of one section, with a mark on each line that shares its rhyme class with another."""
    sizes: dict[str, int] = {}
    for code, _, _ in readings:
        sizes[code] = sizes.get(code, 0) + 1
    sizes[""] = 0
    return tuple([marked if sizes[code] > 1 else plain for code, plain, marked in readings])

"""Fields of data files: names that are meant for a known field, but spelled otherwise."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hengwen.io.row_reader import DataRow

MIN_SIMILARITY = 0.8
"""Ratio of difflib from which a name is a misspelling of another."""
WAY_OUT = "rename it, map it (columns: or --column), or move it under metadata"
"""How a field of a file that has columns and metadata can keep its name."""


class FieldNames:
    """Checks the names of the fields of a file, each name once.

    A name that resembles no known field is accepted: the reader decides what it means.

    Args:
        known: Fields that the reader knows.
        aliases: Other names of these fields in common data sets, by field.
        neighbours: Fields that the same row may hold for another reader; they are never misspellings.
        way_out: How to keep a field of the refused name, for the message.

    Examples:
        >>> names = FieldNames(("id", "input"), {"input": ("prompt",)})
        >>> names.intended("prompt"), names.intended("inptu"), names.intended("ID"), names.intended("mood")
        ('input', 'input', 'id', None)
    """

    def __init__(
        self,
        known: Collection[str],
        aliases: Mapping[str, Collection[str]],
        *,
        neighbours: Collection[str] = (),
        way_out: str = WAY_OUT,
    ) -> None:
        self._known = tuple(known)
        self._by_alias = {alias: name for name, others in aliases.items() for alias in others}
        self._accepted = {*known, *neighbours}
        self._way_out = way_out

    def intended(self, name: str) -> str | None:
        """Return the known field that a name is meant for, or None."""
        if name in self._accepted:
            return None
        plain = name.strip().casefold().replace("-", "_").replace(" ", "_")
        if plain in self._known:
            return plain
        if plain in self._by_alias:
            return self._by_alias[plain]
        return next(iter(difflib.get_close_matches(plain, self._known, n=1, cutoff=MIN_SIMILARITY)), None)

    def check(self, row: DataRow) -> None:
        """Check the names of a row.

        Raises:
            DataError: A name is meant for another field; the message names file and line.
        """
        if row.values.keys() <= self._accepted:
            return
        for name in row.values:
            field = self.intended(name)
            if field is not None:
                row.fail(f"unknown field {name!r}; did you mean {field!r}? {self._way_out}")
            self._accepted.add(name)

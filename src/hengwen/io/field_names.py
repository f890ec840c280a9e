"""Detect wrong field names in data files, such as ``ouput`` or ``completion`` for ``output``."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hengwen.io.row_reader import DataRow

MIN_SIMILARITY = 0.8
"""Minimum similarity (difflib's ratio) at which a name counts as a misspelling of another name."""
WAY_OUT = "rename it, map it (columns: or --column), or move it under metadata"
"""End of the error message about a wrong field name: what the user can do."""


class FieldNames:
    """Check the names of the fields of a data file, each name only once."""

    # An unknown name is an error only if it resembles a known field or is a common alternative name for one.

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
        """Return the known field that a wrong name stands for."""
        if name in self._accepted:
            return None
        plain = name.strip().casefold().replace("-", "_").replace(" ", "_")
        if plain in self._known:
            return plain
        if plain in self._by_alias:
            return self._by_alias[plain]
        return next(iter(difflib.get_close_matches(plain, self._known, n=1, cutoff=MIN_SIMILARITY)), None)

    def check(self, row: DataRow) -> None:
        """Check all field names of a row."""
        if row.values.keys() <= self._accepted:
            return
        for name in row.values:
            field = self.intended(name)
            if field is not None:
                row.fail(f"unknown field {name!r}; did you mean {field!r}? {self._way_out}")
            self._accepted.add(name)

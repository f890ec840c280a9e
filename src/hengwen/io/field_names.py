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
    """Check the names of the fields of a data file, each name only once.

    An unknown name is an error only if it resembles a known field or is a common alternative name for one.

    Args:
        known: Fields that the reader knows.
        aliases: For each known field, other names that common data sets use for it.
        neighbours: Names of fields that another reader of the file uses; they are never reported as errors.
        way_out: End of the error message about a wrong field name: what the user can do.

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
        """Return the known field that a wrong name stands for.

        The result is None if the name is right, or if it resembles no known field.
        """
        if name in self._accepted:
            return None
        plain = name.strip().casefold().replace("-", "_").replace(" ", "_")
        if plain in self._known:
            return plain
        if plain in self._by_alias:
            return self._by_alias[plain]
        return next(iter(difflib.get_close_matches(plain, self._known, n=1, cutoff=MIN_SIMILARITY)), None)

    def check(self, row: DataRow) -> None:
        """Check all field names of a row.

        Raises:
            DataError: A name is meant for a known field but is written differently; the message names file
                and line.
        """
        if row.values.keys() <= self._accepted:
            return
        for name in row.values:
            field = self.intended(name)
            if field is not None:
                row.fail(f"unknown field {name!r}; did you mean {field!r}? {self._way_out}")
            self._accepted.add(name)

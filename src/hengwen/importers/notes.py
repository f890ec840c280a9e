"""Notes that an importer makes about a document: repairs, warnings and remarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportNote:
    """One repair, warning or remark about a document."""

    kind: Literal["repair", "warning", "note"]
    """``repair``: the text was changed; ``warning``: the user should check it; ``note``: no action needed."""
    code: str
    """Identifier of the kind of note, for programs; it does not change between versions."""
    message: str
    """Text for the user."""
    line: int | None = None
    """Line number in the document, from 1."""
    before: str | None = None
    """Text before a repair."""
    after: str | None = None
    """Text after a repair."""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of a note that are set."""
        fields = ("kind", "code", "line", "message", "before", "after")
        return {name: value for name in fields if (value := getattr(self, name)) is not None}

"""Notes of an importer: repairs, warnings and remarks about a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportNote:
    """One repair, warning or remark about a document."""

    kind: Literal["repair", "warning", "note"]
    """``repair``: the text was changed; ``warning``: the user should check it; ``note``: no action needed."""
    code: str
    """Stable identifier of the kind of note, for programs."""
    message: str
    """Text for the user."""
    line: int | None = None
    """Line of the document, from 1."""
    before: str | None = None
    """Original text of a repair."""
    after: str | None = None
    """Repaired text."""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are set."""
        fields = ("kind", "code", "line", "message", "before", "after")
        return {name: value for name in fields if (value := getattr(self, name)) is not None}

"""What an importer mended, or wants somebody to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportNote:
    """One remark on a document."""

    kind: Literal["repair", "warning", "note"]
    """``repair``: the text was mended; ``warning``: look at it; ``note``: nothing to do."""
    code: str
    """What it is about, for programs."""
    message: str
    line: int | None = None
    """Of the document, from 1."""
    before: str | None = None
    """The text as it was, where it was changed."""
    after: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that say something."""
        fields = ("kind", "code", "line", "message", "before", "after")
        return {name: value for name in fields if (value := getattr(self, name)) is not None}

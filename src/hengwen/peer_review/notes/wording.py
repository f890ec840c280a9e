"""Phrases that several notes share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.text.language import Language

MAX_NAMES = 6


def names(members: Sequence[str], language: Language) -> str:
    """Return names as a list in words."""
    listed = ("、" if language == "zh" else ", ").join(members[:MAX_NAMES])
    more = len(members) - MAX_NAMES
    if more <= 0:
        return listed
    return f"{listed}等 {len(members)} 个" if language == "zh" else f"{listed} and {more} more"

"""Phrases that several notes share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.prompts.language import Language

MAX_NAMES = 6


def names(members: Sequence[str], language: Language) -> str:
    """Return names as a list in words.

    If there are more than six names, only the first six are listed. The list then ends with the number of
    omitted names (in Chinese, the number of all names).

    Examples:
        >>> names(["a", "b"], "en"), names([str(n) for n in range(9)], "en")
        ('a, b', '0, 1, 2, 3, 4, 5 and 3 more')
    """
    listed = ("、" if language == "zh" else ", ").join(members[:MAX_NAMES])
    more = len(members) - MAX_NAMES
    if more <= 0:
        return listed
    return f"{listed}等 {len(members)} 个" if language == "zh" else f"{listed} and {more} more"

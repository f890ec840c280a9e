"""Prompts of one judge begin alike: a long beginning is kept once, and each call refers to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEAST = 400
"""Characters from which a beginning is worth a reference."""
MOST_KNOWN = 32
"""Beginnings that are looked through for a text."""


class Beginnings:
    """Cuts what texts share with texts before them.

    Examples:
        >>> rules = "Judge by these rules. " * 30
        >>> beginnings = Beginnings()
        >>> first, second = beginnings.cut(rules + "Fence: 1a"), beginnings.cut(rules + "Fence: 2b")
        >>> second["length"], second["rest"]
        (667, '2b')
        >>> kept = beginnings.take()
        >>> join(second, kept) == rules + "Fence: 2b"
        True
        >>> beginnings.cut("short")
        'short'
    """

    def __init__(self) -> None:
        self._known: list[tuple[str, str]] = []
        self._fresh: dict[str, str] = {}

    def cut(self, text: str) -> str | dict[str, Any]:
        """Return a short text as it is, and a long one as a reference with the rest."""
        if len(text) < LEAST:
            return text
        for place, (key, known) in enumerate(self._known):
            length = shared_length(known, text)
            if length >= max(LEAST, len(text) // 2):
                if place:
                    self._known.insert(0, self._known.pop(place))
                return {"begins": key, "length": length, "rest": text[length:]}
        key = digest(text)
        self._known.insert(0, (key, text))
        del self._known[MOST_KNOWN:]
        self._fresh[key] = text
        return {"begins": key, "length": len(text), "rest": ""}

    def cut_messages(self, messages: Sequence[tuple[str, str]]) -> list[tuple[str, str | dict[str, Any]]]:
        """Return turns with their contents cut."""
        return [(role, self.cut(content)) for role, content in messages]

    def take(self) -> dict[str, str]:
        """Return the beginnings that are new since the last time, by key."""
        fresh, self._fresh = self._fresh, {}
        return fresh


def join(cut: str | Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """Return a text from what ``cut`` made of it.

    Args:
        cut: A text, or a reference with the rest.
        texts: The beginnings by key.
    """
    if isinstance(cut, str):
        return cut
    return texts[cut["begins"]][: cut["length"]] + str(cut["rest"])


def shared_length(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike.

    Examples:
        >>> shared_length("abcd", "abxd"), shared_length("a", "b"), shared_length("ab", "abc")
        (2, 0, 2)
    """
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low

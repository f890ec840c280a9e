"""Prompts of one judge begin alike: a long beginning is kept once, and each call refers to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LEAST = 400
"""Characters from which a beginning is worth a reference."""
MOST_SEEN = 32
"""Texts that are looked through for one that begins alike."""


class _Prefix:
    """A text that was seen; it has a key from the second one on that begins alike."""

    __slots__ = ("_shared", "key", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.key = ""
        self._shared = text

    def shared_with(self, other: str) -> int:
        """How many characters another text begins with alike: mostly as many as the last one did."""
        length = len(self._shared)
        if not other.startswith(self._shared) or self.text[length : length + 1] == other[length : length + 1]:
            length = shared_length(self.text, other)
            self._shared = self.text[:length]
        return length


class PrefixStore:
    """Cuts what texts share with texts before them.

    Examples:
        >>> rules = "Judge by these rules. " * 30
        >>> beginnings = PrefixStore()
        >>> first, second = beginnings.cut(rules + "Fence: 1a"), beginnings.cut(rules + "Fence: 2b")
        >>> first == rules + "Fence: 1a", second["length"], second["rest"]
        (True, 667, '2b')
        >>> kept = beginnings.take()
        >>> join(second, kept) == rules + "Fence: 2b"
        True
        >>> beginnings.cut("short")
        'short'
    """

    def __init__(self) -> None:
        self._seen: list[_Prefix] = []
        self._fresh: dict[str, str] = {}

    def cut(self, text: str) -> str | dict[str, Any]:
        """Return a text as it is, or a reference with the rest where an earlier one began as it does."""
        if len(text) < LEAST:
            return text
        head = text[:LEAST]
        for place, known in enumerate(self._seen):
            if not known.text.startswith(head):
                continue
            length = known.shared_with(text)
            if length >= len(text) // 2:
                self._seen.insert(0, self._seen.pop(place))
                if not known.key:
                    known.key = digest(known.text)
                    self._fresh[known.key] = known.text
                return {"begins": known.key, "length": length, "rest": text[length:]}
        self._seen.insert(0, _Prefix(text))
        del self._seen[MOST_SEEN:]
        return text

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

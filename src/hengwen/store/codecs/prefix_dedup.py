"""Deduplicate long beginnings (prefixes) of prompts: each is stored once, and prompts refer to it by key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MIN_LENGTH = 400
"""Minimum number of leading characters that two texts must share to be stored with a common prefix."""
MAX_RECENT = 32
"""Number of recent texts that are searched for a shared prefix."""


class _Prefix:
    """A recent text; it gets a key, and is stored, when another text first refers to its beginning."""

    __slots__ = ("_shared", "key", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.key = ""
        self._shared = text

    def shared_with(self, other: str) -> int:
        """Return the number of leading characters shared with another text."""
        length = len(self._shared)
        if not other.startswith(self._shared) or self.text[length : length + 1] == other[length : length + 1]:
            length = shared_length(self.text, other)
            self._shared = self.text[:length]
        return length


class PrefixStore:
    """Encode a text as a reference to a prefix that it shares with a recent text."""

    def __init__(self) -> None:
        self._recent: list[_Prefix] = []
        self._new: dict[str, str] = {}

    def encode(self, text: str) -> str | dict[str, Any]:
        """Encode a text as a reference to a prefix of a recent text, with the characters that follow it."""
        if len(text) < MIN_LENGTH:
            return text
        head = text[:MIN_LENGTH]
        for index, prefix in enumerate(self._recent):
            if not prefix.text.startswith(head):
                continue
            length = prefix.shared_with(text)
            if length >= len(text) // 2:
                self._recent.insert(0, self._recent.pop(index))
                if not prefix.key:
                    prefix.key = digest(prefix.text)
                    self._new[prefix.key] = prefix.text
                return {"begins": prefix.key, "length": length, "rest": text[length:]}
        self._recent.insert(0, _Prefix(text))
        del self._recent[MAX_RECENT:]
        return text

    def encode_messages(self, messages: Sequence[tuple[str, str]]) -> list[tuple[str, str | dict[str, Any]]]:
        """Return messages whose contents are encoded by ``encode``."""
        return [(role, self.encode(content)) for role, content in messages]

    def drain(self) -> dict[str, str]:
        """Return, by key, the prefixes that were first referenced since the last call of ``drain``."""
        new, self._new = self._new, {}
        return new


def decode(encoded: str | Mapping[str, Any], prefixes: Mapping[str, str]) -> str:
    """Return the text that ``PrefixStore.encode`` encoded."""
    if isinstance(encoded, str):
        return encoded
    return prefixes[encoded["begins"]][: encoded["length"]] + str(encoded["rest"])


def shared_length(earlier: str, later: str) -> int:
    """Return the number of leading characters that two texts share."""
    low, high = 0, min(len(earlier), len(later))
    if earlier[:high] == later[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if earlier[low:middle] == later[low:middle]:
            low = middle
        else:
            high = middle
    return low

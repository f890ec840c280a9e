"""Detect broken output: an answer that is empty, garbled, a loop, or ends inside its thinking block."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from hengwen.objective.detectors.markup import is_section_tag
from hengwen.objective.detectors.thinking import strip_thinking
from hengwen.objective.duplicates.similarity import normalize_text

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PIECE = 60
"""Maximum number of characters of a piece of text whose repetition can count as a loop."""
MIN_COPIES = 5
"""Minimum number of adjacent copies of a piece of text that can count as a loop."""
_LOOP = re.compile(rf"(.{{1,{MAX_PIECE}}}?)\1{{{MIN_COPIES - 1},}}")
MIN_LOOP_CHARACTERS = 24
"""Minimum number of characters that a repetition must cover to count as a loop; a shorter repetition may be
laughter (哈哈哈)."""
MIN_LOOP_SHARE = 0.5
"""Minimum share of a text that a repeated piece must cover to count as a loop."""
MAX_CONTROL_SHARE = 0.5
"""A text counts as broken if its share of control characters is above this value."""
_USUAL_SPACES = ("\n", "\r", "\t", "\u3000")
MIN_LOST_SHARE = 0.01
"""Minimum share of replacement characters (U+FFFD) at which a text counts as unreadable. A text with a
smaller share of such characters is only slightly damaged."""


class Corruption(NamedTuple):
    """Description, in English and in Chinese, of what is broken in a text."""

    en: str
    zh: str
    slight: bool = False
    """Whether the damage is slight, so that the rest of the text is readable."""
    unit: str = ""
    """The repeated piece that the description quotes; empty if the description quotes no piece."""

    @property
    def unquoted(self) -> tuple[str, str]:
        """Description in English and Chinese that does not quote the text."""
        return ("stuck in a loop", "陷入循环") if self.unit else (self.en, self.zh)


def find_breakage(text: str) -> Corruption | None:
    """Return what makes a text unusable or damages it; None if nothing is broken."""
    answer = strip_thinking(text)
    if answer is None:
        return Corruption("thinks without end", "思考未结束")
    if not answer.strip():
        return Corruption("empty", "空白")
    if _control_share(answer) > MAX_CONTROL_SHARE:
        return Corruption("mostly control characters", "多为控制字符")
    if not any(unicodedata.category(char)[0] in "LN" for char in answer):
        return Corruption("no letter or digit", "没有任何文字")
    unit = find_loop(answer)
    if unit:
        return Corruption(f"loops on {unit[:12]!r}", f"陷入循环：{unit[:12]}", unit=unit)
    lost = answer.count("\ufffd")
    slight = lost < MIN_LOST_SHARE * len(answer)
    return Corruption(f"{lost} garbled (U+FFFD)", f"{lost} 处乱码（U+FFFD）", slight) if lost else None


def _control_share(text: str) -> float:
    bare = text
    for space in _USUAL_SPACES:
        bare = bare.replace(space, "")
    if bare.isprintable():  # so there is no control character to count
        return 0.0
    controls = sum(
        unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn") and char not in "\n\r\t" for char in text
    )
    return controls / len(text)


def find_loop(text: str) -> str:
    """Return the piece (up to 60 characters) that a text repeats over at least half of its length, or ""."""
    bare = "".join(text.split())
    min_length = max(MIN_LOOP_CHARACTERS, MIN_LOOP_SHARE * len(bare))
    if not _has_long_period(bare, min_length):
        return ""
    for match in _LOOP.finditer(bare):
        if match.end() - match.start() >= min_length:
            return match.group(1)
    return ""


def _has_long_period(text: str, min_length: float) -> bool:
    """Return whether a part of the text repeats a piece, and is long enough to be a loop."""
    length = len(text)
    longest = min(MAX_PIECE, length // MIN_COPIES)
    if not longest:
        return False
    for middle in {(length - 1) // 2, length // 2}:
        for start, period in _repeats(text, middle, longest):
            if _run_length(text, start, period) >= max(MIN_COPIES * period, min_length) - period:
                return True
    return False


def _repeats(text: str, middle: int, longest: int) -> Iterator[tuple[int, int]]:
    """Yield (start, period) for pairs of equal characters: at ``start``, and ``period`` characters later."""
    char = text[middle : middle + 1]
    index = text.find(char, middle + 1, middle + longest + 1)
    while index > 0:
        yield middle, index - middle
        index = text.find(char, index + 1, middle + longest + 1)
    index = text.rfind(char, max(middle - longest, 0), middle)
    while index >= 0:
        yield index, middle - index
        index = text.rfind(char, max(middle - longest, 0), index)


def _run_length(text: str, start: int, period: int) -> int:
    """Return how many adjacent characters around ``start`` occur again ``period`` characters later."""
    if start < 0 or start + period >= len(text) or text[start] != text[start + period]:
        return 0
    first, end = start, start + 1
    while first > 0 and text[first - 1] == text[first - 1 + period]:
        first -= 1
    while end + period < len(text) and text[end] == text[end + period]:
        end += 1
    return end - first


def repeated_share(text: str) -> tuple[float, int]:
    """Return the share of lines that repeat an earlier line, and the number of lines."""
    raw_lines = [line for line in text.splitlines() if not is_section_tag(line)]
    normalized = {line: normalize_text(line) for line in set(raw_lines)}
    lines = [normalized[line] for line in raw_lines if normalized[line]]
    return (1 - len(set(lines)) / len(lines), len(lines)) if lines else (0.0, 0)

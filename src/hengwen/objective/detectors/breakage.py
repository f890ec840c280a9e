"""What makes an output broken: nothing there, garbled, cut off in thought, or stuck in a loop."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from hengwen.objective.detectors.markup import is_section_tag
from hengwen.objective.detectors.thinking import strip_thinking
from hengwen.objective.duplicates.similarity import normalize_text

_LOOP = re.compile(r"(.{1,60}?)\1{4,}")
LOOP_LEAST = 24
"""Characters from which a repeated piece is a loop and not a laugh."""
LOOP_SHARE = 0.5
CONTROL_SHARE = 0.5
LOST_SHARE = 0.01
"""Share of U+FFFD from which a text is garbled as a whole."""


class Corruption(NamedTuple):
    """What is broken, in both languages."""

    en: str
    zh: str
    slight: bool = False
    """The rest can still be read."""
    unit: str = ""
    """The piece of the text that the words quote."""

    @property
    def unquoted(self) -> tuple[str, str]:
        """English and Chinese words that quote nothing of the text.

        Examples:
            >>> find_breakage("很好" * 30).unquoted
            ('stuck in a loop', '陷入循环')
        """
        return ("stuck in a loop", "陷入循环") if self.unit else (self.en, self.zh)


def find_breakage(text: str) -> Corruption | None:
    """Return what makes a text no answer, or damages it, or None.

    Args:
        text: The answer as it came, thoughts included.

    Examples:
        >>> find_breakage("……").en
        'no letter or digit'
        >>> find_breakage("很好" * 30).zh
        '陷入循环：很好'
        >>> find_breakage("哈哈哈哈哈，很好") is None
        True
    """
    answer = strip_thinking(text)
    if answer is None:
        return Corruption("thinks without end", "思考未结束")
    if not answer.strip():
        return Corruption("empty", "空白")
    if _control_share(answer) > CONTROL_SHARE:
        return Corruption("mostly control characters", "多为控制字符")
    if not any(unicodedata.category(char)[0] in "LN" for char in answer):
        return Corruption("no letter or digit", "没有任何文字")
    unit = find_loop(answer)
    if unit:
        return Corruption(f"loops on {unit[:12]!r}", f"陷入循环：{unit[:12]}", unit=unit)
    lost = answer.count("\ufffd")
    slight = lost < LOST_SHARE * len(answer)
    return Corruption(f"{lost} garbled (U+FFFD)", f"{lost} 处乱码（U+FFFD）", slight) if lost else None


def _control_share(text: str) -> float:
    strange = sum(
        unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn") and char not in "\n\r\t" for char in text
    )
    return strange / len(text)


def find_loop(text: str) -> str:
    """Return the piece (up to 60 characters) that a text repeats over most of its length, or "".

    Examples:
        >>> find_loop("开头" + "去远方" * 20)
        '去远方'
    """
    bare = "".join(text.split())
    least = max(LOOP_LEAST, LOOP_SHARE * len(bare))
    for hit in _LOOP.finditer(bare):
        if hit.end() - hit.start() >= least:
            return hit.group(1)
    return ""


def repeated_share(text: str) -> tuple[float, int]:
    """Return the share of lines that repeat an earlier line, and the number of lines.

    Lines without words and section tags do not count.

    Examples:
        >>> repeated_share("(verse)\\n风起\\n云涌\\n风起！\\n风起")
        (0.5, 4)
    """
    lines = [normalize_text(line) for line in text.splitlines() if not is_section_tag(line)]
    lines = [line for line in lines if line]
    return (1 - len(set(lines)) / len(lines), len(lines)) if lines else (0.0, 0)

"""Text of others, made safe to print: no control characters, escape sequences or bidi tricks."""

from __future__ import annotations

import re
from typing import Any

# CSI, OSC (ended by BEL or ST) and two-character escapes; then the C1 form of CSI.
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]"
)
_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_BROKEN = re.compile("[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def clean(text: str) -> str:
    """Return the text without terminal escapes, control and bidi characters; every line break is a line feed.

    Lone surrogates and noncharacters, which no UTF-8 file or HTML page may hold, become U+FFFD.

    Examples:
        >>> clean("a\\x1b[31mred\\x1b[0m\\r\\nb\\x00\\u202ec")
        'ared\\nbc'
    """
    return _BROKEN.sub("\ufffd", _CONTROLS.sub("", _BREAKS.sub("\n", _ANSI.sub("", text))))


def one_line(text: str, width: int = 80) -> str:
    """Return the cleaned text on one line, cut at ``width`` characters.

    Examples:
        >>> one_line("山\\n水  人家", 4)
        '山 水…'
    """
    line = " ".join(clean(text).split())
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def shorten(text: str, limit: int) -> str:
    """Return the text, or its first ``limit`` characters and how many were left out.

    Examples:
        >>> shorten("abcdef", 4)
        'abcd\\n… (2 more characters)'
    """
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n… ({len(text) - limit:,} more characters)"


def scrub(value: Any) -> Any:
    """Return plain JSON data with every string free of what UTF-8 cannot hold; nothing else is changed.

    Examples:
        >>> scrub({"a\\ud800": ["x", 1, None]}) == {"a\\ufffd": ["x", 1, None]}
        True
    """
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, dict):
        return {scrub(key): scrub(item) for key, item in value.items()}
    if isinstance(value, list):
        return [scrub(item) for item in value]
    return value

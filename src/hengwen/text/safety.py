"""Make text from outside (such as answers of models) safe to store and to print."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Terminal escape sequences: CSI, OSC (which ends with BEL or ST), two-character escapes, and the C1 form of
# CSI.
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]"
)
_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_NONCHARACTERS = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
_TERMINAL_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_FORMULA_STARTS = tuple("=+-@＝＋－＠")
"""Characters with which a spreadsheet starts a formula; it reads the full-width ones as the others."""

MAX_REPR = 60
"""Maximum number of characters of a value that a message shows."""


def short_repr(value: object) -> str:
    """Return the repr of a value for a message; a long repr is cut."""
    text = repr(value[:MAX_REPR] if isinstance(value, str) else value)
    return text if len(text) <= MAX_REPR else f"{text[: MAX_REPR - 3]}..."


def replace_surrogates(text: str) -> str:
    """Return the text with U+FFFD for each lone surrogate, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def strip_controls(text: str) -> str:
    """Return the text without terminal escapes, control and bidi characters; line ends become line feeds."""
    if text.isprintable():  # most texts are, and this takes a tenth of the time
        return text
    text = _CONTROLS.sub("", _BREAKS.sub("\n", _ANSI.sub("", text)))
    return _NONCHARACTERS.sub("\ufffd", replace_surrogates(text))


def replace_controls(text: str) -> str:
    """Return the text with U+FFFD for each character that controls a terminal, and for lone surrogates."""
    return _TERMINAL_CONTROLS.sub("\ufffd", replace_surrogates(text))


def same_text(text: str, other: str) -> bool:
    """Return whether two texts are equal apart from line ends and control characters, which CSV changes."""
    return len({replace_controls(version).replace("\r\n", "\n") for version in (text, other)}) == 1


def no_formula(text: str) -> str:
    """Return the text with an apostrophe before it if a spreadsheet would run it as a formula."""
    is_formula = text[:1] in ("\t", "\n", "\r") or text.lstrip().startswith(_FORMULA_STARTS)
    return f"'{text}" if is_formula else text


def one_line(text: str, width: int = 80) -> str:
    """Return the cleaned text on one line, cut to ``width`` characters."""
    line = " ".join(strip_controls(text).split())
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def shorten(text: str, limit: int) -> str:
    """Return the text; cut it after ``limit`` characters, and state the number of omitted characters."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n… ({len(text) - limit:,} more characters)"


def sanitize(value: Any) -> Any:
    """Replace lone surrogates in every string of JSON data by U+FFFD, because UTF-8 cannot encode them."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, Mapping):
        return {sanitize(key): sanitize(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [sanitize(item) for item in value]
    return value

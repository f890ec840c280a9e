"""Make untrusted text safe to print: remove control characters, escape sequences, direction overrides."""

from __future__ import annotations

from typing import Any

from hengwen.io.text_safety import replace_surrogates, strip_controls


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
    if isinstance(value, dict):
        return {sanitize(key): sanitize(item) for key, item in value.items()}
    if isinstance(value, list):
        return [sanitize(item) for item in value]
    return value

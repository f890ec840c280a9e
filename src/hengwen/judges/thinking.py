"""The ``<think>`` block that reasoning models put before what they say."""

from __future__ import annotations

import re

_OPEN = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


def strip_thinking(text: str) -> str | None:
    """Return a text without a leading ``<think>…</think>``; None where it is never closed.

    Examples:
        >>> strip_thinking("<think>hm</think> yes")
        ' yes'
        >>> strip_thinking("<think>hm") is None
        True
        >>> strip_thinking("say <think>")
        'say <think>'
    """
    opened = _OPEN.match(text)
    if opened is None:
        return text
    closed = _CLOSE.search(text, opened.end())
    return None if closed is None else text[closed.end() :]

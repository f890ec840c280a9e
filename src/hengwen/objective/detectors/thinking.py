"""Remove the ``<think>`` block that reasoning models put before their answer."""

from __future__ import annotations

import re

_OPEN = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_LONE_CLOSE = re.compile(r"</think(?:ing)?>[ \t]*(?:\r?\n|\Z)", re.IGNORECASE)


def strip_thinking(text: str) -> str | None:
    """Return a text without a leading ``<think>…</think>``; None if the block is not closed."""
    opened = _OPEN.match(text)
    if opened is None:
        return text
    closed = _CLOSE.search(text, opened.end())
    return None if closed is None else text[closed.end() :]


def after_thinking(text: str) -> str | None:
    """Return the text after the last ``</think>``; None if there is no such tag."""
    *_, last = (None, *_CLOSE.finditer(text)) if "</" in text else (None,)
    return None if last is None else text[last.end() :]


def answer_without_thinking(text: str) -> str | None:
    """Return an answer without the thinking block before it; None if the block is not closed."""
    if "<" not in text:
        return text
    answer = strip_thinking(text)
    if answer is text:
        closed = _LONE_CLOSE.search(text)
        answer = text if closed is None else text[closed.end() :]
    return answer if answer is None or answer is text else answer.lstrip()

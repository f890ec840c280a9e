"""Remove the ``<think>`` block that reasoning models put before their answer."""

from __future__ import annotations

import re

_OPEN = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_LONE_CLOSE = re.compile(r"</think(?:ing)?>[ \t]*(?:\r?\n|\Z)", re.IGNORECASE)


def strip_thinking(text: str) -> str | None:
    """Return a text without a leading ``<think>…</think>``; None if the block is not closed.

    Args:
        text: A reply or an answer.

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


def after_thinking(text: str) -> str | None:
    """Return the text after the last ``</think>``; None if there is no such tag.

    Some chat templates end with ``<think>``, so that a reply contains only the closing tag.

    Args:
        text: A reply.

    Examples:
        >>> after_thinking("hm</think>yes")
        'yes'
        >>> after_thinking("yes") is None
        True
    """
    *_, last = (None, *_CLOSE.finditer(text)) if "</" in text else (None,)
    return None if last is None else text[last.end() :]


def answer_without_thinking(text: str) -> str | None:
    """Return an answer without the thinking block before it; None if the block is not closed.

    A closing tag ``</think>`` without an opening tag counts only at the end of a line. A closing tag
    elsewhere is treated as a part of the answer that only mentions the tag.

    Args:
        text: An answer.

    Examples:
        >>> answer_without_thinking("<think>hm</think>\\n\\nRain falls")
        'Rain falls'
        >>> answer_without_thinking("hm\\n</think>\\nRain falls")
        'Rain falls'
        >>> answer_without_thinking("</think> is a tag")
        '</think> is a tag'
    """
    if "<" not in text:
        return text
    answer = strip_thinking(text)
    if answer is text:
        closed = _LONE_CLOSE.search(text)
        answer = text if closed is None else text[closed.end() :]
    return answer if answer is None or answer is text else answer.lstrip()

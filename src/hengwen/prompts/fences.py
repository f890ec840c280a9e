"""Fences: random marks around an answer in a prompt, so that a judge obeys no instructions in the answer."""

from __future__ import annotations

import re
import secrets
from hashlib import blake2b
from itertools import count

from hengwen.text.safety import replace_surrogates

PLACEHOLDER = "0" * 16
"""Text that replaces the fence (random mark around an answer in a prompt) when the key of a judge's call is
computed. A stored reply is looked up by this key, so prompts that differ only in the fence share a reply."""

_KEY = secrets.token_bytes(32)
_numbers = count()

_OPENING = re.compile(r"(?<![<＜])[<＜]{3,}+(?=\s*\w)")
_CLOSING = re.compile(r"(?<=\w)([ \t]*)[>＞]{3,}")
_CHAT_TOKEN = re.compile(r"<(\|[^|<>\n]{1,40}\||/?(?:start|end)_of_turn)>|\[(/?INST)\]")
_THINKING = re.compile(r"<(/?think(?:ing)?)>", re.IGNORECASE)
_BRACKET = re.compile(r"[<>＜＞\[]")


def new_fence() -> str:
    """Return a random fence (mark around an answer in a prompt) of 16 hex digits."""
    return blake2b(next(_numbers).to_bytes(8, "big"), key=_KEY, digest_size=8).hexdigest()


def neutralize(text: str, fence: str = PLACEHOLDER) -> str:
    """Return a text without anything that looks like a fence or a control token of a chat model."""
    text = replace_surrogates(text)
    if _BRACKET.search(text):
        text = _CLOSING.sub(r"\1›››", _OPENING.sub("‹‹‹", text))
        text = _THINKING.sub(r"‹\1›", text)  # a judge that quotes it would seem to begin its verdict there
        text = _CHAT_TOKEN.sub(lambda match: f"‹{match[1]}›" if match[1] else f"［{match[2]}］", text)
    return text if fence == PLACEHOLDER else text.replace(fence, "·" * len(fence))

"""The Chinese of help texts, errors and notes: a message catalogue of gettext.

`tools/messages.py` collects the English texts and compiles the catalogue. A message is translated where a
person reads it, so that stores, logs and exceptions hold one wording.
"""

from __future__ import annotations

import gettext
import os
import re
import sys
from collections import defaultdict
from functools import cache, lru_cache
from heapq import merge
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.text.language import Bilingual, Language

FOLDER = Path(__file__).parent / "locale" / "zh" / "LC_MESSAGES"
_MARKS = {": ": ": ", "; ": "; ", ", got ": "，现在是 ", ", ": ", "}
"""Where a message that was put together is taken apart, and what stands there in Chinese."""
MAX_DEPTH = 8
"""Levels at which a message is taken apart; what it quotes may have any number of marks."""
MAX_LENGTH = 4000
"""Characters of a message that is taken apart."""
_FILLED_IN = re.compile(r"(\{\d+\})")
_ENDS = 3
"""Characters at either end of a text by which its patterns are found."""


def locale_language(environment: Mapping[str, str] = os.environ) -> Language:
    """Return the language of the locale; a locale without a language is English."""
    names = (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    locale = next((name for name in names if name), "C")
    return "zh" if locale.startswith("zh") else "en"


def message_language(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> Language:
    """Return the language of messages: from ``--lang``, else HENGWEN_LANG, else the locale."""
    stated = environment.get("HENGWEN_LANG", "")
    for before, argument in pairwise(["", *arguments]):
        if before == "--lang" or argument.startswith("--lang="):
            stated = argument.removeprefix("--lang=")
    return "zh" if stated == "zh" else "en" if stated == "en" else locale_language(environment)


def localized(text: str, language: Language | None = None) -> str:
    """Return a message in a language, by default that of the command; unknown parts stay as they are."""
    chosen = language or message_language(sys.argv)
    return text if chosen == "en" or not text else _translated(text)


def bilingual(text: str) -> Bilingual:
    """Return a message, such as that of a failure, in both languages."""
    from hengwen.text.language import Bilingual

    return Bilingual(localized(text, "zh"), text)


def chinese(english: str, context: str = "") -> str:
    """Return the Chinese text of a message; a message without one stays English."""
    return _texts().get(f"{context}\x04{english}" if context else english) or english


@lru_cache(maxsize=4096)
def _translated(text: str, depth: int = 0) -> str:
    whole = _texts().get(text) if text else ""
    if whole:
        return whole
    if depth == MAX_DEPTH or len(text) > MAX_LENGTH:
        return text
    patterns = _patterns()
    possible = ("", ""), (text[:_ENDS], ""), ("", text[-_ENDS:])
    for _, longest, fixed, translation in merge(*(patterns[ends] for ends in possible if ends in patterns)):
        filled_in = _filled_in(fixed, text) if longest in text else None
        if filled_in is not None:
            return _fill(translation, [_translated(part, depth + 1) for part in filled_in])
    for mark, translation in _MARKS.items():
        head, separator, tail = text.partition(mark)
        if separator:
            halves = _translated(head, depth + 1), _translated(tail, depth + 1)
            if halves != (head, tail) or translation.strip(",; :"):
                return translation.join(halves)
    return text


def _fill(translation: str, parts: Sequence[str]) -> str:
    return _FILLED_IN.sub(lambda mark: parts[int(mark[0][1:-1]) - 1], translation)


@cache
def _texts() -> Mapping[str, str]:
    with (FOLDER / "hengwen.mo").open("rb") as file:
        texts: Mapping[str, str] = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    return texts


@cache
def _patterns() -> Mapping[tuple[str, str], list[tuple[int, str, list[str], str]]]:
    """Return rank, longest fixed part, all fixed parts and translation of each; the longest text first.

    They are kept by the first characters of the text, else by the last ones, as a text has few of each.
    """
    fixed = {text: _FILLED_IN.split(text)[::2] for text in _texts() if _FILLED_IN.search(text)}
    patterns = defaultdict(list)
    for rank, text in enumerate(sorted(fixed, key=lambda text: -sum(map(len, fixed[text])))):
        first, *_, last = fixed[text]
        start = first[:_ENDS] if len(first) >= _ENDS else ""
        end = last[-_ENDS:] if len(last) >= _ENDS and not start else ""
        patterns[start, end].append((rank, max(fixed[text], key=len), fixed[text], _texts()[text]))
    return dict(patterns)


def _filled_in(fixed: Sequence[str], text: str) -> list[str] | None:
    """Return what stands between the fixed parts, each at its first place; else None.

    Of two parts with nothing between, the second is a clause that may follow: it starts at a semicolon.
    """
    first, *middle, last = fixed
    end = len(text) - len(last)
    if not text.startswith(first) or not text.endswith(last) or end < len(first):
        return None
    filled_in, position = [], len(first)
    for part, following in pairwise([*middle, ""]):
        start = text.find(part, position, end)
        if not part:
            stop = text.find(following, position, end) if following else end
            clause = text.find("; ", position, stop)
            start = stop if clause < 0 else clause
        if start < 0:
            return None
        filled_in.append(text[position:start])
        position = start + len(part)
    return [*filled_in, text[position:end]]

"""The two languages, and messages in both: English stands in the code, Chinese in the catalogue."""

from __future__ import annotations

import gettext
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from heapq import merge
from itertools import pairwise
from pathlib import Path
from typing import Literal, cast, get_args

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


Language = Literal["zh", "en"]


@dataclass(frozen=True, slots=True, eq=False)
class Bilingual:
    """A message whose language is chosen by who prints it; it is joined and filled in like a ``str``.

    Examples:
        >>> COLON.join([say("score"), "7"]).in_language("zh")
        '分数：7'
        >>> say("{mean} of {prompts}", mean=7, prompts=12).in_language("en")
        '7 of 12'
    """

    chinese: str | None
    """The Chinese text, for texts of users; None for a message of the catalogue."""
    english: str
    context: str = field(default="", kw_only=True)
    """What tells messages of the same English apart in the catalogue."""
    values: tuple[tuple[str, object], ...] = field(default=(), kw_only=True)
    """Values of the fields by name, or by position where the name is empty."""

    def in_language(self, language: Language) -> str:
        """Return the text in one language, its values too."""
        text = self.english
        if language == "zh":
            text = chinese(self.english, self.context) if self.chinese is None else self.chinese
        if not self.values:
            return text
        values = [
            (name, value.in_language(language) if isinstance(value, Bilingual) else value)
            for name, value in self.values
        ]
        positional = (value for name, value in values if not name)
        return text.format(*positional, **{name: value for name, value in values if name})

    @property
    def zh(self) -> str:
        """The text in Chinese."""
        return self.in_language("zh")

    @property
    def en(self) -> str:
        """The text in English."""
        return self.in_language("en")

    def join(self, texts: Iterable[str | Bilingual]) -> Bilingual:
        """Return texts with this one between them."""
        values = tuple(("", text) for text in texts)
        fields = ["{}"] * len(values)
        return Bilingual(self.zh.join(fields), self.en.join(fields), values=values)

    def format(self, *values: object, **named: object) -> Bilingual:
        """Return the text with values in its fields, each in the language of the text if it has two."""
        filled = (*(("", value) for value in values), *named.items())
        return Bilingual(self.chinese, self.english, context=self.context, values=(*self.values, *filled))

    @property
    def capitalized(self) -> Bilingual:
        """The text as it begins a line: in English with a capital."""
        return Bilingual(self.zh, self.en[:1].upper() + self.en[1:])

    def __iter__(self) -> Iterator[str]:
        return iter((self.zh, self.en))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bilingual | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self.en)


def say(english: str, /, *, context: str = "", **values: object) -> Bilingual:
    """Return a message of the catalogue with its values."""
    return Bilingual(None, english, context=context, values=tuple(values.items()))


NO_TEXT = Bilingual("", "")
COLON, COMMA, SEMICOLON = Bilingual("：", ": "), Bilingual("，", ", "), Bilingual("；", "; ")
LIST_COMMA = Bilingual("、", ", ")
"""Between the parts of a list."""
MIDDLE_DOT, SPACE, LINE_FEED = Bilingual(" · ", " · "), Bilingual(" ", " "), Bilingual("\n", "\n")
NOTED = Bilingual("{}（{}）", "{} ({})")
"""A text, and what is noted of it."""
SENTENCE = Bilingual("{}。", "{}.")


def in_language(text: str | Bilingual, language: Language) -> str:
    """Return a text that is the same in both languages, or the text in one language."""
    return text.in_language(language) if isinstance(text, Bilingual) else text


def both(text: str | Bilingual) -> Bilingual:
    """Return a text in both languages."""
    return text if isinstance(text, Bilingual) else Bilingual(text, text)


def check_language(value: str) -> Language:
    """Return the value of a language option if it is valid."""
    if value not in get_args(Language):
        raise ValueError(f"language must be 'zh' or 'en', got {value!r}")
    return cast("Language", value)

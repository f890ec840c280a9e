"""The two languages, and messages in both: English stands in the code, Chinese in the catalogue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast, get_args

from hengwen.text.catalogue import chinese

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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

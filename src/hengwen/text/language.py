"""The two languages, and a text in both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

Language = Literal["zh", "en"]


class Bilingual(NamedTuple):
    """A text in Chinese and in English, which is joined and filled in like a ``str``.

    Examples:
        >>> COLON.join([Bilingual("分数", "score"), "7"])
        Bilingual(zh='分数：7', en='score: 7')
        >>> NOTED.format("7", Bilingual("最高", "highest"))
        Bilingual(zh='7（最高）', en='7 (highest)')
    """

    zh: str
    en: str

    def in_language(self, language: Language) -> str:
        """Return the text in one language."""
        return self.zh if language == "zh" else self.en

    def join(self, texts: Iterable[str | Bilingual]) -> Bilingual:
        """Return texts with this one between them."""
        parts = [both(text) for text in texts]
        return Bilingual(self.zh.join(part.zh for part in parts), self.en.join(part.en for part in parts))

    def format(self, *values: object, **named: object) -> Bilingual:
        """Return the text with values in its fields, each in the language of the text if it has two."""

        def filled(language: Language) -> str:
            def word(value: object) -> object:
                return value.in_language(language) if isinstance(value, Bilingual) else value

            fields = {name: word(value) for name, value in named.items()}
            return self.in_language(language).format(*map(word, values), **fields)

        return Bilingual(filled("zh"), filled("en"))

    @property
    def capitalized(self) -> Bilingual:
        """The text as it begins a line: in English with a capital."""
        return Bilingual(self.zh, self.en[:1].upper() + self.en[1:])


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

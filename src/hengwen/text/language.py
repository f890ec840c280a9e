"""The two languages, and a text in both."""

from __future__ import annotations

from typing import Literal, NamedTuple, cast, get_args

Language = Literal["zh", "en"]


class Bilingual(NamedTuple):
    """A text in Chinese and in English."""

    zh: str
    en: str

    def in_language(self, language: Language) -> str:
        """Return the text in one language."""
        return self.zh if language == "zh" else self.en


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

"""A text in Chinese and in English; a report shows one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hengwen.prompts.language import Language


class Bilingual(NamedTuple):
    """A text in Chinese and in English."""

    zh: str
    en: str

    def in_language(self, language: Language) -> str:
        """Return the text in one language."""
        return self.zh if language == "zh" else self.en

"""Packaged cases of the admission test: two characters with good answers, and ways to spoil an answer."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from hengwen.io.strict_yaml import StrictModel, load_yaml, parse_model
from hengwen.prompts.rubric import Bilingual, Key
from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hengwen.text.language import Language

Degradation = Literal["labelled", "off_topic", "truncated", "duplicated", "scrambled"]
DEGRADATIONS: tuple[Degradation, ...] = get_args(Degradation)
"""Ways to make an answer worse under any rubric. ``labelled`` is used only if the rubric asks for plain
text."""

TRUNCATED_SHARE = 0.4
"""Share of the characters that is kept when an answer is truncated."""
DUPLICATE_COUNT = 4
"""Number of copies of the text in a duplicated answer."""
MIN_CUT_LENGTH = 10
"""Answers with fewer characters than this are not truncated or scrambled, because they might not become
worse."""

_LABELLED_TEMPLATES = {
    "zh": "【回答】\n## 正文\n{text}\n\n【分类】日常对话\n【字数】{size}",
    "en": "[Answer]\n## Text\n{text}\n\nCategory: everyday talk\nCharacters: {size}",
}


class AdmissionPersona(StrictModel):
    """A character with a good answer to each input; answers have the keys of ``AdmissionFixtures.inputs``."""

    id: Key
    persona: Bilingual
    answers: dict[Key, Bilingual]


class AdmissionFixtures(StrictModel):
    """The packaged cases; see ``cases.yaml``."""

    version: int
    personas: list[AdmissionPersona]
    inputs: dict[Key, Bilingual]
    off_topic: Bilingual
    padding: Bilingual
    """Sentences without content. An answer to which they are appended becomes no better, and at most a little
    worse."""

    @property
    def hash(self) -> str:
        """Hash of the cases, 8 hex digits. Reports with different hashes are not comparable."""
        return digest(
            self.model_dump(mode="json"),
            TRUNCATED_SHARE,
            DUPLICATE_COUNT,
            MIN_CUT_LENGTH,
            _LABELLED_TEMPLATES,
        )[:8]


@cache
def load_cases() -> AdmissionFixtures:
    """Return the packaged cases."""
    path = Path(str(files("hengwen.judges.trust.admission"))) / "cases.yaml"
    return parse_model(AdmissionFixtures, load_yaml(path))


def degrade(text: str, how: Degradation, language: Language = "zh") -> str | None:
    """Return a spoiled copy of a good answer; the result depends only on the arguments."""
    copy = _DEGRADERS[how](text, language)
    if not text.strip() or copy == text:
        return None
    too_short = how in ("truncated", "scrambled") and len("".join(text.split())) < MIN_CUT_LENGTH
    return None if too_short else copy


def pad(text: str, language: Language = "zh") -> str:
    """Return an answer followed by sentences without content."""
    return f"{text.rstrip()}\n{load_cases().padding.in_language(language)}"


def _labelled(text: str, language: Language) -> str:
    return _LABELLED_TEMPLATES[language].format(text=text, size=len(text))


def _off_topic(_text: str, language: Language) -> str:
    return load_cases().off_topic.in_language(language)


def _truncated(text: str, _language: Language) -> str:
    return text.strip()[: int(TRUNCATED_SHARE * len(text.strip()))].rstrip(" ,.;:!?，。；：！？、…\n")


def _duplicated(text: str, _language: Language) -> str:
    return "\n".join([text] * DUPLICATE_COUNT)


def _scrambled(text: str, _language: Language) -> str:
    words = text.split()
    parts, separator = (words, " ") if len(words) > 3 else (re.findall(r"\S", text), "")
    shuffled = sorted(
        enumerate(parts), key=lambda item: hashlib.sha256(f"{item[0]}{item[1]}".encode()).digest()
    )
    return separator.join(part for _, part in shuffled)


_DEGRADERS: Mapping[Degradation, Callable[[str, Language], str]] = {
    "labelled": _labelled,
    "off_topic": _off_topic,
    "truncated": _truncated,
    "duplicated": _duplicated,
    "scrambled": _scrambled,
}

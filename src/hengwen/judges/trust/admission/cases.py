"""What a judge is tried with before it is admitted: two small characters, and ways to spoil a good answer."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from hengwen.io.yaml_config import StrictModel, load_yaml, parse_model
from hengwen.prompts.rubric import Bilingual, Key
from hengwen.records import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hengwen.prompts.language import Language

Spoiling = Literal["labelled", "off_topic", "truncated", "duplicated", "scrambled"]
SPOILINGS: tuple[Spoiling, ...] = get_args(Spoiling)
"""Every one makes an answer worse by any rubric; ``labelled`` where a rubric wants plain text."""

KEPT = 0.4
"""Share of its characters that a truncated answer keeps."""
COPIES = 4
SHORTEST = 10
"""Characters below which an answer is not cut or scrambled: it may well survive."""

_WRAPS = {
    "zh": "【回答】\n## 正文\n{text}\n\n【分类】日常对话\n【字数】{size}",
    "en": "[Answer]\n## Text\n{text}\n\nCategory: everyday talk\nCharacters: {size}",
}


class AdmissionPersona(StrictModel):
    """A character and its answers, by input."""

    id: Key
    persona: Bilingual
    answers: dict[Key, Bilingual]


class AdmissionFixtures(StrictModel):
    """The packaged cases; see ``admission_cases.yaml``."""

    version: int
    personas: list[AdmissionPersona]
    inputs: dict[Key, Bilingual]
    off_topic: Bilingual

    @property
    def hash(self) -> str:
        """8 hex digits: reports on different cases are not comparable."""
        return digest(self.model_dump(mode="json"), KEPT, COPIES, SHORTEST, _WRAPS)[:8]


@cache
def load_cases() -> AdmissionFixtures:
    """Return the packaged cases.

    Examples:
        >>> [persona.id for persona in load_cases().personas], len(load_cases().inputs)
        (['scales', 'courier'], 4)
    """
    home = Path(str(files("hengwen.judges.trust.admission"))) / "cases.yaml"
    return parse_model(AdmissionFixtures, load_yaml(home))


def degrade(text: str, how: Spoiling, language: Language = "zh") -> str | None:
    """Return a worse copy of a good answer; the same one every time.

    Args:
        text: The good answer.
        how: ``labelled``: labels, a heading and a word count around it; ``off_topic``: something else that
            is well written; ``truncated``: the first 40 % of its characters; ``duplicated``: four times in a
            row; ``scrambled``: its words, or its characters where it has no spaces, out of order.
        language: Of the labels and of the other text.

    Returns:
        None where the copy would not surely be worse: empty answers, and short ones (below 10 characters
        without whitespace) that would be cut or scrambled.

    Examples:
        >>> degrade("The sea is calm tonight, my friend.", "truncated")
        'The sea is cal'
        >>> degrade("好的。", "truncated") is None
        True
    """
    if not text.strip() or text == (copy := _SPOILERS[how](text, language)):
        return None
    cuts = how in ("truncated", "scrambled")
    return None if cuts and len("".join(text.split())) < SHORTEST else copy


def _labelled(text: str, language: Language) -> str:
    return _WRAPS[language].format(text=text, size=len(text))


def _off_topic(text: str, language: Language) -> str:
    return load_cases().off_topic.in_language(language)


def _truncated(text: str, language: Language) -> str:
    return text.strip()[: int(KEPT * len(text.strip()))].rstrip(" ,.;:!?，。；：！？、…\n")


def _duplicated(text: str, language: Language) -> str:
    return "\n".join([text] * COPIES)


def _scrambled(text: str, language: Language) -> str:
    words = text.split()
    parts, glue = (words, " ") if len(words) > 3 else (re.findall(r"\S", text), "")
    mixed = sorted(enumerate(parts), key=lambda item: hashlib.sha256(f"{item[0]}{item[1]}".encode()).digest())
    return glue.join(part for _, part in mixed)


_SPOILERS: Mapping[Spoiling, Callable[[str, Language], str]] = {
    "labelled": _labelled,
    "off_topic": _off_topic,
    "truncated": _truncated,
    "duplicated": _duplicated,
    "scrambled": _scrambled,
}

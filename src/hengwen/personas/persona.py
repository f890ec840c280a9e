"""Persona: a character that a model plays, described in one YAML file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, field_validator

from hengwen.io.strict_yaml import StrictModel, load_yaml, parse_model
from hengwen.prompts.rubric import EitherText, NonEmptyStr
from hengwen.text.language import Language

Scene = Literal["new_topic", "live", "emotion", "daily", "comprehensive"]
"""Situations in which a character speaks. They are from the Muice protocol, which describes how to evaluate a
persona chatbot; ``daily`` occurs only in older revisions of this protocol."""

_TAG = re.compile(r"<[^<>:：]*[:：]\s*([^<>]*?)\s*>|<\s*([^<>:：]*?)\s*>")


def _texts(value: object) -> object:
    return [value] if isinstance(value, str) else value


Texts = Annotated[list[NonEmptyStr], BeforeValidator(_texts)]


class Persona(StrictModel):
    """A character: its name, its manner of speaking, and facts about it.

    Examples:
        >>> cat = Persona.model_validate({"name": "Soot", "language": "en", "voice": "Dry and brief."})
        >>> cat.called, cat.markers
        ('Soot', [])
    """

    name: EitherText
    language: Language = "zh"
    """Language of the prompts."""
    voice: NonEmptyStr
    """Character and manner of speaking, in a few sentences."""
    facts: Texts = []
    """Facts about the character and its world."""
    taboos: Texts = []
    """Texts that the character must never say; the rules judge, which uses no model, searches answers for
    them."""
    markers: Texts = []
    """Words that are typical of the character. The rules judge expects one of the markers in a very good
    answer."""
    briefs: dict[str, NonEmptyStr] = {}
    """For each topic, one sentence that instructs the model to open a conversation about it."""
    manner: str | None = None
    """Last sentence of every system prompt. The default is a packaged sentence that asks the model for spoken
    words only."""
    scenes: dict[Scene, NonEmptyStr] = {}
    """For each scene (situation in which the character speaks), its description in the system prompt.
    For a scene that is not listed, a packaged description is used."""

    @field_validator("briefs")
    @classmethod
    def _topics_differ(cls, briefs: dict[str, NonEmptyStr]) -> dict[str, NonEmptyStr]:
        tags: dict[str, str] = {}
        for tag in briefs:
            topic = topic_of(tag)
            if not topic:
                raise ValueError(f"{tag!r} names no topic")
            if topic in tags:
                raise ValueError(f"{tag!r} and {tags[topic]!r} are one topic")
            tags[topic] = tag
        return briefs

    @property
    def called(self) -> str:
        """The name of the character in the language of the prompts."""
        return self.name.in_language(self.language)

    def brief(self, tag: str) -> str | None:
        """Return the instruction to open a conversation about a topic; None if the topic has no instruction.

        Args:
            tag: A tag such as ``<post: the sea>``, or only the topic.

        Examples:
            >>> fields = {"name": "煤球", "voice": "话少。", "briefs": {"雨天": "说说雨。"}}
            >>> cat = Persona.model_validate(fields)
            >>> cat.brief("<话题：雨天>"), cat.brief("雪天")
            ('说说雨。', None)
        """
        topic = topic_of(tag)
        return next((brief for key, brief in self.briefs.items() if topic_of(key) == topic), None)


def topic_of(tag: str) -> str:
    """Return the topic in a tag; for ``<post: the sea>`` this is ``the sea``."""
    match = _TAG.fullmatch(tag.strip())
    return (match[1] or match[2] or "") if match else tag.strip()


def load_persona(path: str | Path) -> Persona:
    """Load a persona from a YAML file.

    Args:
        path: YAML file with name, voice and optional fields.

    Raises:
        ConfigError: The file is invalid; the message names file and line.
    """
    return parse_model(Persona, load_yaml(Path(path)))

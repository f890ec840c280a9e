"""A character that a model is to play: one YAML file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, field_validator

from hengwen.io.yaml_config import StrictModel, load_yaml, parse_model
from hengwen.prompts.language import Language
from hengwen.prompts.rubric import EitherText, NonEmptyStr

Scene = Literal["new_topic", "live", "emotion", "daily", "comprehensive"]
"""What a character may be asked to do; ``daily`` stands in older revisions of the Muice document."""

_TAG = re.compile(r"<[^<>:：]*[:：]\s*([^<>]*?)\s*>|<\s*([^<>:：]*?)\s*>")


def _texts(value: object) -> object:
    return [value] if isinstance(value, str) else value


Texts = Annotated[list[NonEmptyStr], BeforeValidator(_texts)]


class Persona(StrictModel):
    """Who speaks: a name, a voice, and what is true of the character.

    Examples:
        >>> cat = Persona.model_validate({"name": "Soot", "language": "en", "voice": "Dry and brief."})
        >>> cat.called, cat.markers
        ('Soot', [])
    """

    name: EitherText
    language: Language = "zh"
    """Of the prompts that are made from this."""
    voice: NonEmptyStr
    """How the character speaks and what it is like, in a few sentences."""
    facts: Texts = []
    """What is true of it and of its world."""
    taboos: Texts = []
    """What it never says; the rules judge looks for each of them in the answers, word for word."""
    markers: Texts = []
    """Words by which one knows it; the rules judge wants one of them in a very good answer."""
    briefs: dict[str, NonEmptyStr] = {}
    """For each topic that it opens by itself, what is wanted, in one sentence."""
    manner: str | None = None
    """What every prompt ends with; the packaged sentence (spoken words, no labels) where it is not given."""
    scenes: dict[Scene, NonEmptyStr] = {}
    """Where it speaks, for each task; the packaged sentences serve where one is not given."""

    @field_validator("briefs")
    @classmethod
    def _topics_differ(cls, briefs: dict[str, NonEmptyStr]) -> dict[str, NonEmptyStr]:
        seen: dict[str, str] = {}
        for tag in briefs:
            topic = topic_of(tag)
            if not topic:
                raise ValueError(f"{tag!r} names no topic")
            if topic in seen:
                raise ValueError(f"{tag!r} and {seen[topic]!r} are one topic")
            seen[topic] = tag
        return briefs

    @property
    def called(self) -> str:
        """The name in the language of the prompts."""
        return self.name.in_language(self.language)

    def brief(self, tag: str) -> str | None:
        """Return what is wanted of a topic prompt, or None where nobody says.

        Args:
            tag: ``<post: the sea>``, or the topic alone.

        Examples:
            >>> given = {"name": "煤球", "voice": "话少。", "briefs": {"雨天": "说说雨。"}}
            >>> cat = Persona.model_validate(given)
            >>> cat.brief("<话题：雨天>"), cat.brief("雪天")
            ('说说雨。', None)
        """
        wanted = topic_of(tag)
        return next((brief for key, brief in self.briefs.items() if topic_of(key) == wanted), None)


def topic_of(tag: str) -> str:
    """Return the topic that a prompt names, without its brackets and its kind.

    Examples:
        >>> topic_of("<话题: 灯塔日常>"), topic_of("<话题：灯塔日常>"), topic_of(" rain ")
        ('灯塔日常', '灯塔日常', 'rain')
    """
    found = _TAG.fullmatch(tag.strip())
    return (found[1] or found[2] or "") if found else tag.strip()


def load_persona(path: str | Path) -> Persona:
    """Read a persona.

    Args:
        path: Of a YAML file with name, voice, and whatever else is known of the character.

    Raises:
        ConfigError: The file is wrong; the message names file and line.
    """
    return parse_model(Persona, load_yaml(Path(path)))

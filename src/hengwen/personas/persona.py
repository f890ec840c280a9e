"""Persona: a character that a model plays, described in one YAML file, and its system prompt."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, field_validator

from hengwen.errors import ConfigError
from hengwen.io.output_files import atomic_write, is_same_file
from hengwen.io.strict_yaml import StrictModel, load_yaml, parse_model
from hengwen.personas.plan_text import yaml_flow
from hengwen.prompts.rubric import EitherText, NonEmptyStr
from hengwen.text.language import Language
from hengwen.text.numbers import replace_surrogates

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


BRIEF = "{{ brief }}"
"""Placeholder for the brief (instruction to talk about a topic), which is in the metadata of a sample."""

_HEADS: Mapping[Language, tuple[str, str, str, str]] = {
    "zh": ("你是{name}。", "关于你：", "常挂在嘴边（自然地用，不必句句都有）：", "你从不说："),
    "en": ("You are {name}.", "About you:", "Words of yours (use them lightly):", "You never say:"),
}
_JOINTS: Mapping[Language, str] = {"zh": "、", "en": ", "}
_SCENES: Mapping[Language, Mapping[Scene, str]] = {
    "zh": {
        "new_topic": f"现在没有人在说话，请你主动开口，直接说出你要说的话。这一次：{BRIEF}",
        "live": "你正在直播，下面是一位观众对你说的话，请回应。",
        "emotion": "有人来找你说心里的事。先听懂，再回应：让人好受一些，或者一起高兴，不讲大道理。",
        "daily": "你是对方社交账号里的一位朋友，正在和对方闲聊。",
        "comprehensive": "有人在和你聊天，请回应。",
    },
    "en": {
        "new_topic": f"Nobody is speaking: open the conversation yourself. This time: {BRIEF}",
        "live": "You are streaming. What follows was said to you by a viewer: reply.",
        "emotion": "Somebody tells you what is on their mind. Understand first, then reply: comfort, or "
        "share the joy, and do not lecture.",
        "daily": "You are a friend in somebody's social media contacts, and the two of you are chatting.",
        "comprehensive": "Somebody is chatting with you: reply.",
    },
}
_MANNER: Mapping[Language, str] = {
    "zh": "只写你说出口的话：一小段平常的话，不加标签、标题和列表。",
    "en": "Write nothing but your spoken words: a short passage, without labels, headings or lists.",
}


def system_prompt(persona: Persona, task: Scene) -> str:
    """Return the system prompt of a task as a Jinja2 template.

    Args:
        persona: The character. The texts of the character are escaped, so braces in them are plain text.
        task: Name of the task. For ``new_topic`` the template uses ``brief`` from the metadata of a sample.

    Examples:
        >>> from hengwen.personas.persona import Persona
        >>> cat = Persona.model_validate(
        ...     {"name": "Soot", "language": "en", "voice": "Dry.", "facts": "Sleeps in a hat."}
        ... )
        >>> print(system_prompt(cat, "live"))
        You are Soot. Dry.
        <BLANKLINE>
        About you:
        - Sleeps in a hat.
        <BLANKLINE>
        You are streaming. What follows was said to you by a viewer: reply.
        <BLANKLINE>
        Write nothing but your spoken words: a short passage, without labels, headings or lists.
        <BLANKLINE>
    """
    language = persona.language
    introduction, facts, markers, taboos = _HEADS[language]
    space = "" if language == "zh" else " "
    words = _JOINTS[language].join(persona.markers)
    parts = [
        escape_template(introduction.format(name=persona.called) + space + persona.voice),
        _listed(facts, persona.facts),
        escape_template(f"{markers}{space}{words}") if words else "",
        _listed(taboos, persona.taboos),
        _scene(persona, task),
        _MANNER[language] if persona.manner is None else escape_template(persona.manner.strip()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def escape_template(text: str) -> str:
    """Return a template that renders to exactly the given text."""
    return re.sub(r"\{(?=[{%#])", '{{ "{" }}', text)


def _scene(persona: Persona, task: Scene) -> str:
    scene = persona.scenes.get(task)
    if scene is None:
        return _SCENES[persona.language][task]
    return escape_template(scene) + (BRIEF if task == "new_topic" else "")


def _listed(head: str, texts: Sequence[str]) -> str:
    return escape_template("\n".join([head, *(f"- {text}" for text in texts)])) if texts else ""


MAX_NAME = 100
"""Maximum number of characters of a plan's name."""


def to_jsonl(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as JSON lines; lone surrogates, which UTF-8 cannot encode, become U+FFFD."""
    return "".join(replace_surrogates(json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)


def name_after(folder: Path, files: Mapping[str, str | bytes]) -> dict[str, str | bytes]:
    """Return the files of a plan after setting the plan's name to the name of its folder."""
    name = re.sub(r"[^\w.-]+", "-", folder.resolve().name).strip("-._")[:MAX_NAME]
    plan = files["plan.yaml"]
    text = plan.decode() if isinstance(plan, bytes) else plan
    if name:
        text = re.sub(r"(?m)^name: .*$", lambda _: f"name: {yaml_flow(name)}", text, count=1)
    return {**files, "plan.yaml": text}


def write_folder(
    folder: Path, files: Mapping[str, str | bytes], *, force: bool = False, inputs: Sequence[Path] = ()
) -> None:
    """Write files into a folder, which is created if needed; ``plan.yaml`` is written last."""
    targets = {name: _target(folder, name) for name in sorted(files)}
    for target in targets.values():
        for path in inputs:
            if is_same_file(target, path):
                raise ConfigError(f"{target}: the import would replace the input {path}; name another folder")
        if os.path.lexists(target) and not force:
            raise ConfigError(f"{target} exists; name another folder or use --force")
    try:
        for target in targets.values():
            target.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as writes:
            plan_first = sorted(files, key=lambda name: name != "plan.yaml")
            for name in plan_first:  # ExitStack completes the files in reverse order
                text = files[name]
                temporary = writes.enter_context(atomic_write(targets[name]))
                temporary.write_bytes(text.encode() if isinstance(text, str) else text)
    except FileExistsError:
        raise ConfigError(f"{folder}: is a file; name a folder") from None
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror}") from None


def _target(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder."""
    relative = Path(name)
    if relative.is_absolute() or relative.drive or ".." in relative.parts:
        raise ConfigError(f"file name {name!r} leads out of the folder {folder}")
    target = folder
    for part in relative.parts:
        target = target / part
        if target.is_symlink():
            raise ConfigError(
                f"{target}: is a link to {os.readlink(target)}, and nothing is written through a link; "
                "remove it, or name another folder"
            )
    return target

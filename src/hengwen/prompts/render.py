"""Render the prompts of judges and of the model under test with sandboxed templates.

An answer stands between fences: random marks, so that a judge obeys no instructions in the answer.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from itertools import count
from typing import Any, Literal, get_args

from jinja2 import (
    Environment,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateSyntaxError,
    UndefinedError,
)

from hengwen.errors import ConfigError
from hengwen.prompts.rubric import Rubric, verdict_shape
from hengwen.prompts.sandbox import TemplateSandbox
from hengwen.records import Message, Response, Sample, digest
from hengwen.text.language import Language
from hengwen.text.numbers import replace_surrogates

PLACEHOLDER = "0" * 16
"""Text that replaces the fence (random mark around an answer in a prompt) when the key of a judge's call is
computed. A stored reply is looked up by this key, so prompts that differ only in the fence share a reply."""

_KEY = secrets.token_bytes(32)
_numbers = count()

_OPENING = re.compile(r"(?<![<＜])[<＜]{3,}+(?=\s*\w)")
_CLOSING = re.compile(r"(?<=\w)([ \t]*)[>＞]{3,}")
_CHAT_TOKEN = re.compile(r"<([|｜][^|｜<>\n]{1,40}[|｜]|/?(?:start|end)_of_turn|/?s|[be]os)>|\[(/?INST)\]")
_THINKING = re.compile(r"<(/?think(?:ing)?)>", re.IGNORECASE)
_BRACKET = re.compile(r"[<>＜＞\[]")


def new_fence() -> str:
    """Return a random fence (mark around an answer in a prompt) of 16 hex digits."""
    return blake2b(next(_numbers).to_bytes(8, "big"), key=_KEY, digest_size=8).hexdigest()


def neutralize(text: str, fence: str = PLACEHOLDER) -> str:
    """Return a text without anything that looks like a fence or a control token of a chat model."""
    text = replace_surrogates(text)
    if _BRACKET.search(text):
        text = _CLOSING.sub(r"\1›››", _OPENING.sub("‹‹‹", text))
        text = _THINKING.sub(r"‹\1›", text)  # a judge that quotes it would seem to begin its verdict there
        text = _CHAT_TOKEN.sub(lambda match: f"‹{match[1]}›" if match[1] else f"［{match[2]}］", text)
    return text if fence == PLACEHOLDER else text.replace(fence, "·" * len(fence))


DEFAULT_USER = "{{ input }}"
PromptKind = Literal["judge", "pair"]
_ANSWERS: Mapping[PromptKind, tuple[str, ...]] = {"judge": ("response",), "pair": ("first", "second")}

_FENCE_MARK, _TEXT_MARK = "\ue000", "\ue001"
_SYSTEMS: dict[tuple[str, str, tuple[str, ...], str, str], list[str]] = {}
"""Cache of rendered system turns, split at the fence (a random mark), because the fence differs per call."""

_PARTS: Mapping[str, tuple[str, str]] = {
    "input": ("题目：", "The task:"),
    "persona": ("角色设定：", "The persona:"),
    "references": ("参考回答：", "The reference answer:"),
    "response": ("待评判的回答：", "The answer to judge:"),
    "first": ("第一份回答：", "The first answer:"),
    "second": ("第二份回答：", "The second answer:"),
}


def render_judge_prompt(
    rubric: Rubric,
    sample: Sample,
    *answers: Response,
    language: Language = "zh",
    persona: str = "",
    task_instruction: str = "",
    facts: Sequence[str] = (),
    fence: str = PLACEHOLDER,
) -> tuple[Message, ...]:
    """Return the prompt of a judge: a system turn with the rubric, a user turn with one answer or two."""
    kind: PromptKind = "judge" if len(answers) == 1 else "pair"
    named = dict(zip(_ANSWERS[kind], answers, strict=True))
    names, texts = _parts(rubric, sample, named, persona)
    frame = _user_frame(kind, names, language)
    user = frame.format(*[neutralize(text, fence) for text in texts], fence=fence)
    if facts:
        user = _packaged(f"judge_facts.{language}.j2").render(facts=facts) + user
    system = system_turn(kind, rubric, language, task_instruction, fence)
    return (("system", system), ("user", user))


def system_turn(
    kind: PromptKind,
    rubric: Rubric,
    language: Language,
    task_instruction: str = "",
    fence: str = PLACEHOLDER,
) -> str:
    """Return the system turn of a judge."""
    key = (kind, rubric.hash, tuple(rubric.criteria), language, task_instruction)
    if key not in _SYSTEMS:
        text = _render_system(kind, _with_instruction(rubric, task_instruction), language)
        _SYSTEMS[key] = text.split(_FENCE_MARK)
    return fence.join(_SYSTEMS[key])


def _with_instruction(rubric: Rubric, task_instruction: str) -> Rubric:
    if not task_instruction.strip():
        return rubric
    texts = {
        language: f"{rubric.instructions.in_language(language)}\n{task_instruction.strip()}"
        for language in get_args(Language)
    }
    return rubric.model_copy(update={"instructions": rubric.instructions.model_copy(update=texts)})


def _render_system(kind: PromptKind, rubric: Rubric, language: Language) -> str:
    examples = [
        {
            "input": example.input.in_language(language),
            "reference": example.reference.in_language(language) if example.reference else "",
            "response": example.response.in_language(language),
            "reason": example.reason.in_language(language),
            "label": rubric.levels[example.level].label,
        }
        for example in rubric.examples
    ]
    return _packaged(f"{kind}_system.{language}.j2").render(
        rubric=rubric,
        levels=list(rubric.levels.values())[::-1],
        labels=list(rubric.labels)[::-1],
        examples=examples,
        answer_format=_answer_format(rubric, language),
        fence=_FENCE_MARK,
    )


def prompt_hash(
    rubric: Rubric,
    language: Language,
    *,
    task_instruction: str = "",
    facts: bool = False,
    kind: PromptKind = "judge",
) -> str:
    """Return a hash (8 hex digits) of everything in a judge's prompt except the sample and the answer."""
    turns = ("system", "user", "facts") if facts else ("system", "user")
    sources = [_source(f"{kind}_{turn}.{language}.j2") for turn in turns]
    instructions = [task_instruction.strip()] if task_instruction.strip() else []
    return digest(sources, rubric.hash, list(rubric.criteria), *instructions)[:8]


def render_persona(template: str, sample: Sample) -> str:
    """Return the persona text that the model under test received for a sample."""
    if not is_template(template):
        return template
    return _render(template, _values(sample), sample.id)


def check_template(template: str) -> None:
    """Check the syntax of a template.

    Args:
        template: A template of the system or the user turn.

    Raises:
        ConfigError: The template is invalid.
    """
    _compile(template)


def is_template(text: str) -> bool:
    """Return whether a text contains Jinja2 marks, that is ``{{``, ``{%`` or ``{#``."""
    return "{{" in text or "{%" in text or "{#" in text


def _values(sample: Sample) -> dict[str, Any]:
    return {**sample.metadata, "input": sample.text, "id": sample.id, "references": list(sample.references)}


def render_subject_prompt(system: str | None, user: str, sample: Sample) -> tuple[Message, ...]:
    """Return the prompt of the model under test."""
    values = _values(sample)
    turns: list[Message] = []
    if system is not None and (text := _render(system, values, sample.id)).strip():
        turns.append(("system", text))
    if not isinstance(sample.input, str) and user.strip() == DEFAULT_USER:
        turns.extend(sample.input)
    else:
        turns.append(("user", _render(user, values, sample.id)))
    return tuple((role, content.encode("utf-8", "replace").decode()) for role, content in turns)


def _parts(
    rubric: Rubric, sample: Sample, answers: Mapping[str, Response], persona: str
) -> tuple[tuple[str, ...], list[str]]:
    """Return the names and texts of the sample's parts that the rubric uses; references are numbered."""
    texts_by_part: dict[str, Sequence[str]] = {
        "input": (_conversation(sample),),
        "persona": (persona,),
        "references": sample.references,
        **{name: (answer.text,) for name, answer in answers.items()},
    }
    names: list[str] = []
    texts: list[str] = []
    for name, part in texts_by_part.items():
        if name in rubric.uses or name in answers:
            used = [text for text in part if text.strip() or name in answers]
            names += [name] if len(used) == 1 else [f"{name}-{index}" for index in range(1, len(used) + 1)]
            texts += used
    return tuple(names), texts


@lru_cache(maxsize=256)
def _user_frame(kind: PromptKind, names: tuple[str, ...], language: Language) -> str:
    """Return the user turn of a judge as a format string into which texts and fences are inserted later."""
    parts = []
    for name in names:
        zh, en = _PARTS[name.partition("-")[0]]
        parts.append({"name": name, "zh": zh, "en": en, "text": _TEXT_MARK})
    turn = _packaged(f"{kind}_user.{language}.j2").render(parts=parts, fence=_FENCE_MARK)
    turn = turn.replace("{", "{{").replace("}", "}}")
    return turn.replace(_FENCE_MARK, "{fence}").replace(_TEXT_MARK, "{}")


def _conversation(sample: Sample) -> str:
    if isinstance(sample.input, str):
        return sample.input
    return "\n".join(f"[{role}] {content}" for role, content in sample.input)


def _answer_format(rubric: Rubric, language: Language) -> str:
    reason, label = ("理由", "等级") if language == "zh" else ("your reason", "a level")
    return json.dumps(verdict_shape(rubric, f"<{reason}>", f"<{label}>"), ensure_ascii=False)


@lru_cache(maxsize=1)
def _sandbox() -> TemplateSandbox:
    return TemplateSandbox()


@lru_cache(maxsize=16)
def _source(name: str) -> str:
    return (files("hengwen.prompts") / "templates" / name).read_text("utf-8")


@lru_cache(maxsize=16)
def _packaged(name: str) -> Template:
    environment = Environment(  # noqa: S701 - the prompt is text, not HTML
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_source(name))


@lru_cache(maxsize=256)
def _compiled(source: str) -> Template:
    return _sandbox().from_string(source)


_TEMPLATE_ERRORS = (
    TemplateError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What Jinja raises where a template is wrong; its filters raise any of these."""


def _compile(source: str) -> Template:
    try:
        return _compiled(source)
    except TemplateSyntaxError as error:
        message = (error.message or "wrong").removesuffix(".")
        raise ConfigError(
            f"prompt template, line {error.lineno}: {message[:1].lower()}{message[1:]}"
        ) from None
    except RecursionError:
        raise ConfigError("prompt template: nested too deeply") from None
    except _TEMPLATE_ERRORS as error:
        raise ConfigError(f"prompt template: {error}") from None


def _render(source: str, values: Mapping[str, Any], sample_id: str) -> str:
    template = _compile(source)
    try:
        return _sandbox().render(template, values, len(source))
    except UndefinedError as error:
        known = ", ".join(sorted(values))
        raise ConfigError(f"sample {sample_id!r}: prompt template: {error.message}; known: {known}") from None
    except RecursionError:
        raise ConfigError(f"sample {sample_id!r}: prompt template: it calls itself without end") from None
    except _TEMPLATE_ERRORS as error:
        raise ConfigError(f"sample {sample_id!r}: prompt template: {error}") from None

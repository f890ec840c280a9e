"""Prompts from templates: what a judge is sent, and what a subject is asked. Plain text, sandboxed."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, UndefinedError
from jinja2.sandbox import SandboxedEnvironment

from hengwen.errors import ConfigError
from hengwen.prompts.fences import PLACEHOLDER, neutralize
from hengwen.records import Message, digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hengwen.prompts.rubric import Language, Rubric
    from hengwen.records import Response, Sample

DEFAULT_USER = "{{ input }}"

_FENCE_MARK = "\ue000"
_SYSTEMS: dict[tuple[str, tuple[str, ...], str], str] = {}
"""System turns that were rendered before, with a mark where the fence belongs: they repeat for every call."""

_PARTS: Mapping[str, tuple[str, str]] = {
    "input": ("题目：", "The task:"),
    "persona": ("角色设定：", "The persona:"),
    "references": ("参考回答：", "The reference answer:"),
    "response": ("待评判的回答：", "The answer to judge:"),
}


def render_judge_prompt(
    rubric: Rubric,
    sample: Sample,
    response: Response,
    *,
    language: Language = "zh",
    persona: str = "",
    fence: str = PLACEHOLDER,
) -> tuple[Message, ...]:
    """Return what a judge is sent: a system turn with the rubric, a user turn with the fenced material.

    Args:
        rubric: ``uses`` decides which parts are shown; parts that are empty are left out, but the response.
        sample: What was asked; its input and references.
        response: The answer to judge.
        language: Of the prompt.
        persona: Text about the character.
        fence: From :func:`hengwen.prompts.fences.new_fence`; the default placeholder gives the identity.

    Examples:
        >>> from hengwen.prompts import load_rubric
        >>> from hengwen.records import Response, Sample
        >>> answer = Response(sample_id="1", text="Sea, sea")
        >>> asked = Sample(id="1", input="Theme: sea")
        >>> rubric = load_rubric("lyric_craft")
        >>> turns = render_judge_prompt(rubric, asked, answer, language="en", fence="f00d")
        >>> [role for role, _ in turns]
        ['system', 'user']
        >>> turns[1][1].splitlines()[:4]
        ['The task:', '<<<f00d:input', 'Theme: sea', 'f00d>>>']
    """
    parts = [
        {"name": name, "zh": zh, "en": en, "text": neutralize(text, fence)}
        for name, zh, en, text in _parts(rubric, sample, response, persona)
    ]
    user = _packaged(f"judge_user.{language}.j2").render(parts=parts, fence=fence)
    return (("system", judge_system(rubric, language, fence)), ("user", user))


def judge_system(rubric: Rubric, language: Language, fence: str = PLACEHOLDER) -> str:
    """Return the system turn of a judge; only its last lines hold the fence, so that servers can cache it.

    Args:
        rubric: What to judge by.
        language: Of the prompt.
        fence: To name in it.
    """
    key = (rubric.hash, tuple(rubric.criteria), language)
    if key not in _SYSTEMS:
        _SYSTEMS[key] = _render_system(rubric, language)
    return _SYSTEMS[key].replace(_FENCE_MARK, fence)


def _render_system(rubric: Rubric, language: Language) -> str:
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
    return _packaged(f"judge_system.{language}.j2").render(
        rubric=rubric,
        levels=list(rubric.levels.values())[::-1],
        labels=list(rubric.labels)[::-1],
        examples=examples,
        answer_format=_answer_format(rubric, language),
        fence=_FENCE_MARK,
    )


def prompt_hash(rubric: Rubric, language: Language) -> str:
    """Return 8 hex digits of all that decides a judge's prompt but the sample: templates, rubric, order.

    Args:
        rubric: What to judge by.
        language: Of the prompt.
    """
    sources = [_source(f"judge_{turn}.{language}.j2") for turn in ("system", "user")]
    return digest(sources, rubric.hash, list(rubric.criteria))[:8]


def render_subject_prompt(system: str | None, user: str, sample: Sample) -> tuple[Message, ...]:
    """Return what a subject is asked.

    Args:
        system: Template of the system turn; none where it is None or renders to nothing.
        user: Template of the user turn. Where it is the default ``{{ input }}`` and the input is a list of
            messages, these become the turns.
        sample: Templates see ``input``, ``id``, ``references`` and the keys of its metadata.

    Raises:
        ConfigError: A template is wrong, or uses what the sample does not have.

    Examples:
        >>> from hengwen.records import Sample
        >>> sample = Sample(id="1", input="Hi", metadata={"role": "a cat"})
        >>> render_subject_prompt("You are {{ role }}.", "{{ input }}", sample)
        (('system', 'You are a cat.'), ('user', 'Hi'))
    """
    values = {**sample.metadata, "input": sample.text, "id": sample.id, "references": list(sample.references)}
    turns: list[Message] = []
    if system is not None and (text := _render(system, values, sample.id)).strip():
        turns.append(("system", text))
    if not isinstance(sample.input, str) and user.strip() == DEFAULT_USER:
        turns.extend(sample.input)
    else:
        turns.append(("user", _render(user, values, sample.id)))
    return tuple((role, content.encode("utf-8", "replace").decode()) for role, content in turns)


def _parts(
    rubric: Rubric, sample: Sample, response: Response, persona: str
) -> Iterator[tuple[str, str, str, str]]:
    texts = {
        "input": [_conversation(sample)],
        "persona": [persona],
        "references": list(sample.references),
        "response": [response.text],
    }
    for name, (zh, en) in _PARTS.items():
        if name in rubric.uses:
            shown = [text for text in texts[name] if text.strip() or name == "response"]
            for number, text in enumerate(shown, 1):
                yield (f"{name}-{number}" if len(shown) > 1 else name), zh, en, text


def _conversation(sample: Sample) -> str:
    if isinstance(sample.input, str):
        return sample.input
    return "\n".join(f"[{role}] {content}" for role, content in sample.input)


def _answer_format(rubric: Rubric, language: Language) -> str:
    reason, label = ("理由", "等级") if language == "zh" else ("your reason", "a level")
    shape: dict[str, object] = {"reason": f"<{reason}>"}
    if rubric.criteria:
        shape["criteria"] = dict.fromkeys(rubric.criteria, f"<{label}>")
    shape["level"] = f"<{label}>"
    return json.dumps(shape, ensure_ascii=False)


@lru_cache(maxsize=1)
def _environment() -> SandboxedEnvironment:
    return SandboxedEnvironment(
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@lru_cache(maxsize=16)
def _source(name: str) -> str:
    return (files("hengwen.prompts") / "templates" / name).read_text("utf-8")


@lru_cache(maxsize=16)
def _packaged(name: str) -> Template:
    return _environment().from_string(_source(name))


@lru_cache(maxsize=256)
def _compiled(source: str) -> Template:
    return _environment().from_string(source)


def _render(source: str, values: Mapping[str, Any], sample_id: str) -> str:
    try:
        return _compiled(source).render(values)
    except TemplateSyntaxError as error:
        raise ConfigError(f"prompt template, line {error.lineno}: {error.message}") from None
    except UndefinedError as error:
        known = ", ".join(sorted(values))
        raise ConfigError(f"sample {sample_id!r}: prompt template: {error.message}; known: {known}") from None
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise ConfigError(f"sample {sample_id!r}: prompt template: {error}") from None

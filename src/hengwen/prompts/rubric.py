"""Rubrics: YAML files with a judge's instructions, criteria and levels, in Chinese and English."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    field_validator,
    model_validator,
)

from hengwen.errors import ConfigError, did_you_mean
from hengwen.io.strict_yaml import StrictModel, YamlFile, load_yaml, parse_model
from hengwen.records import Scale, digest
from hengwen.score_id import RESERVED_PARTS
from hengwen.text.language import Language

ONE_LANGUAGE = "rubric {!r} is in one language only: its texts stand for both zh and en"
"""Warning about a rubric that is in one language; ``{!r}`` is replaced by the name of the rubric."""


def in_both_languages(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """Use each text of a rubric for Chinese and for English if the whole rubric is in one language."""
    values = [data[key] for key in ("title", "instructions") if key in data]
    for key in ("levels", "criteria"):
        values += data[key].values() if isinstance(data.get(key), dict) else []
    languages = {
        name for value in values if isinstance(value, dict) for name in get_args(Language) if name in value
    }
    if len(languages) > 1 or not (languages or any(isinstance(value, str) for value in values)):
        return None
    completed = {key: _complete(data[key]) for key in ("title", "instructions") if key in data}
    for key in ("levels", "criteria"):
        if isinstance(data.get(key), dict):
            completed[key] = {name: _complete(value) for name, value in data[key].items()}
    return {**data, **completed}


def _complete(value: Any) -> Any:
    """Return a text as a mapping with this text for both languages; return other values unchanged."""
    if isinstance(value, str):
        return dict.fromkeys(get_args(Language), value)
    texts = [value[name] for name in get_args(Language) if name in value] if isinstance(value, dict) else []
    return {**value, **dict.fromkeys(get_args(Language), texts[0])} if texts else value


Part = Literal["input", "response", "references", "persona"]
"""A part of a judge's prompt."""
ClauseName = Literal[
    "empty_or_broken",
    "near_duplicate",
    "wrong_number",
    "right_number",
    "copy_of_reference",
    "plain_text",
    "taboo",
    "markers",
    "length",
    "reference_similarity",
    "repeated_lines",
]
"""Name of a clause: one fixed rule that the rules judge (a judge without a model) applies."""
CLAUSES: tuple[ClauseName, ...] = get_args(ClauseName)


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError("a text is empty")
    return value.strip()


def _key(value: str) -> str:
    if not re.fullmatch(r"[^\W\d]\w{0,59}", value):
        raise ValueError("a name starts with a letter and has only letters, digits and '_'")
    return value


def _label(value: Any) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else value


def _short(value: str) -> str:
    if not re.fullmatch(r"\S(?:[^\n\r]{0,18}\S)?", value):
        raise ValueError("a label has 1 to 20 characters on one line")
    return value


def _clause(value: str) -> str:
    if value not in CLAUSES:
        raise ValueError(f"unknown clause {value!r}{did_you_mean(value, CLAUSES)}")
    return value


NonEmptyStr = Annotated[str, AfterValidator(_text)]
Key = Annotated[str, AfterValidator(_key)]
Label = Annotated[str, BeforeValidator(_label), AfterValidator(_short)]
Clause = Annotated[str, AfterValidator(_clause)]


class Bilingual(StrictModel):
    """One text in Chinese and in English."""

    zh: NonEmptyStr
    en: NonEmptyStr

    def in_language(self, language: Language) -> str:
        """Return the text in one language."""
        return self.zh if language == "zh" else self.en


def _both(value: Any) -> Any:
    return {"zh": value, "en": value} if isinstance(value, str) else value


EitherText = Annotated[Bilingual, BeforeValidator(_both)]
"""A text in Chinese and one in English, or one text that is used for both languages."""


class Level(Bilingual):
    """One level of a rubric: the label that a judge answers with, and its meaning in Chinese and English."""

    label: Label


class Example(StrictModel):
    """An invented answer with its level, shown to the judge."""

    input: EitherText
    response: EitherText
    level: float
    reason: EitherText
    reference: EitherText | None = None


class Length(StrictModel):
    """Length of a good answer, in characters without whitespace."""

    min: Annotated[int, Field(ge=0)] = 0
    max: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Length:
        if self.max is not None and self.min > self.max:
            raise ValueError(f"length.min {self.min} is above length.max {self.max}")
        return self


class RubricRules(StrictModel):
    """Options of the rules judge (a judge without a model)."""

    plain_text: bool = False
    """Whether an answer must be plain words, without markup and without a label such as ``Answer:``."""
    length: Length | None = None
    markers: list[NonEmptyStr] = []
    """Words that are typical of the persona; a good answer has at least one of them."""
    taboo: list[NonEmptyStr] = []
    """Phrases that an answer must not contain."""
    criteria: dict[Key, list[Clause]] = {}
    """For each criterion, the clauses (fixed rules) that decide its level."""


class Rubric(StrictModel):
    """A rubric that has been validated."""

    name: Key
    """First part of the names of the scores that judges with this rubric give."""
    version: Annotated[int, Field(ge=1)]
    """Version number that the author increases when the rubric changes. If the author forgets this, a hash of
    the rubric still separates the scores of the old and the new text."""
    title: EitherText
    """What is judged, in a few words."""
    instructions: EitherText
    """Instructions to the judge."""
    levels: Annotated[dict[float, Level], Field(min_length=2)]
    """The levels by value, ascending; higher is better."""
    criteria: dict[Key, EitherText] = {}
    """Aspects that are judged in addition to the overall level, with the same levels."""
    examples: list[Example] = []
    """Example answers with their levels, which the judge reads."""
    uses: list[Part] = ["input", "response"]
    """Parts of a sample and of its task that the prompt shows."""
    better_than_reference: bool = False
    """Whether an answer that differs from the reference may be as good as the reference or better."""
    rules: RubricRules | None = None
    _is_in_one_language: bool = PrivateAttr(False)

    @property
    def is_in_one_language(self) -> bool:
        """Whether the rubric was written in one language only; its texts are then used for both languages."""
        return self._is_in_one_language

    @model_validator(mode="wrap")
    @classmethod
    def _one_for_both(cls, data: Any, handler: ModelWrapValidatorHandler[Rubric]) -> Rubric:
        completed = in_both_languages(data) if isinstance(data, dict) else None
        rubric = handler(completed or data)
        rubric._is_in_one_language = completed is not None
        return rubric

    @field_validator("levels")
    @classmethod
    def _clear_levels(cls, levels: dict[float, Level]) -> dict[float, Level]:
        for value in levels:
            if not isfinite(value):
                raise ValueError(f"level {value} is not finite")
        labels: set[str] = set()
        for level in levels.values():
            if level.label.casefold() in labels:
                raise ValueError(f"label {level.label!r} is used twice (upper and lower case are the same)")
            labels.add(level.label.casefold())
        return dict(sorted(levels.items()))

    @model_validator(mode="after")
    def _fits_together(self) -> Rubric:
        for part, meaning in RESERVED_PARTS.items():
            if part in self.criteria:
                raise ValueError(f"a criterion may not be called {part!r}: that is the name of {meaning}")
        if "response" not in self.uses:
            raise ValueError("uses must name 'response': it is what is judged")
        for number, example in enumerate(self.examples, 1):
            if example.level not in self.levels:
                known = ", ".join(f"{value:g}" for value in self.levels)
                raise ValueError(f"example {number} has level {example.level:g}, which is none of {known}")
        for criterion in self.rules.criteria if self.rules else ():
            if criterion not in self.criteria:
                hint = did_you_mean(criterion, self.criteria)
                raise ValueError(f"rules.criteria names {criterion!r}, which is no criterion{hint}")
        return self

    @cached_property
    def hash(self) -> str:
        """Hash (8 hex digits) of all parts that a model reads; neither ``rules`` nor key order change it."""
        return digest(self.model_dump(mode="json", exclude={"rules"}) | {"uses": sorted(self.uses)})[:8]

    @cached_property
    def scale(self) -> Scale:
        """Scale with the values of the levels in ascending order."""
        values = tuple(self.levels)
        return Scale(low=values[0], high=values[-1], levels=values)

    @cached_property
    def labels(self) -> dict[str, float]:
        """Value of each level by its label; the best level comes last."""
        return {level.label: value for value, level in self.levels.items()}


def verdict_shape(rubric: Rubric, reason: object, label: object) -> dict[str, Any]:
    """Return the object that a judge writes: first the reason, then the criteria, then the level."""
    criteria = {"criteria": dict.fromkeys(rubric.criteria, label)} if rubric.criteria else {}
    return {"reason": reason, **criteria, "level": label}


def load_rubric(name_or_path: str | Path) -> Rubric:
    """Load a packaged rubric by its name, or a rubric from a file.

    Args:
        name_or_path: Name of a packaged rubric, or a path that ends in ``.yaml`` or ``.yml``.

    Raises:
        ConfigError: The name is unknown, or the file is invalid; the message names file and line.

    Examples:
        >>> load_rubric("lyric_craft").labels
        {'E': 0.0, 'D': 0.25, 'C': 0.5, 'B': 0.75, 'A': 1.0}
    """
    if str(name_or_path).endswith((".yaml", ".yml")):
        return _read(Path(name_or_path))
    if name_or_path not in packaged_rubrics():
        hint = did_you_mean(str(name_or_path), packaged_rubrics())
        raise ConfigError(
            f"unknown rubric {str(name_or_path)!r}{hint} (a file of your own must end in .yaml)"
        )
    return _read(_rubric_folder() / f"{name_or_path}.yaml")


def packaged_rubrics() -> list[str]:
    """Return the sorted names of the packaged rubrics."""
    return sorted(path.stem for path in _rubric_folder().glob("*.yaml"))


def _rubric_folder() -> Path:
    return Path(str(files("hengwen.prompts") / "rubrics"))


def _read(path: Path) -> Rubric:
    return parse_model(Rubric, _keys_as_written(load_yaml(path)))


def _keys_as_written(file: YamlFile) -> YamlFile:
    """Return the file with the keys of ``levels`` as strings, spelled as in the file."""
    levels = file.data.get("levels") if isinstance(file.data, dict) else None
    if not isinstance(levels, dict):
        return file
    paths = [path for path in file.lines if len(path) == 2 and path[0] == "levels"]
    if len(paths) != len(levels):
        raise ConfigError(f"{file.at(('levels',))}: levels: two keys are the same number")
    for key, path in zip(levels, paths, strict=True):
        if isinstance(key, bool) or not isinstance(key, (int, float)):
            raise ConfigError(f"{file.at(path)}: levels: a level must be a number, got {path[1]!r}")
    keyed = {str(path[1]): levels[key] for key, path in zip(levels, paths, strict=True)}
    return replace(file, data={**file.data, "levels": keyed})

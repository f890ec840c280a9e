"""YAML with line numbers, checked by pydantic: every complaint names its file and line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from hengwen.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Location = tuple[str | int, ...]
Model = TypeVar("Model", bound="StrictModel")


class StrictModel(BaseModel):
    """A frozen model in which an unknown key is an error that names the nearest known one."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _no_unknown_keys(cls, data: Any) -> Any:
        if isinstance(data, dict):
            known = {field.alias or name for name, field in cls.model_fields.items()}
            for key in data:
                if key not in known:
                    hint = did_you_mean(str(key), known)
                    raise PydanticCustomError(
                        "unknown_key", "unknown key '{key}'{hint}", {"key": str(key), "hint": hint}
                    )
        return data


@dataclass(frozen=True, slots=True)
class YamlFile:
    """What a YAML file holds, and the line of every value."""

    path: Path
    data: Any
    lines: dict[Location, int]

    def at(self, location: Iterable[str | int] = ()) -> str:
        """Return ``file:line`` of a value, or of its nearest parent.

        Args:
            location: Keys and indexes from the root.
        """
        where = tuple(location)
        while where and where not in self.lines:
            where = where[:-1]
        return f"{self.path}:{self.lines.get(where, 1)}"


def read_text(path: Path) -> str:
    """Read a UTF-8 file (a byte order mark is allowed).

    Raises:
        ConfigError: It is missing, unreadable, or not UTF-8 (with the line).
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    return decode(raw, path)


def decode(raw: bytes, path: Path, first_line: int = 1) -> str:
    """Decode UTF-8 bytes, or say where they stop being UTF-8.

    Raises:
        ConfigError: They are not UTF-8; the message names file and line.
    """
    try:
        return raw.decode("utf-8-sig" if first_line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        line = first_line + raw.count(b"\n", 0, error.start)
        raise ConfigError(
            f"{path}:{line}: not UTF-8 (byte 0x{raw[error.start]:02x}); save the file as UTF-8"
        ) from None


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Libyaml's, where PyYAML has it: ten times as fast."""


def load_yaml(path: Path) -> YamlFile:
    """Read a YAML file (safe tags only); keys must be unique.

    Raises:
        ConfigError: It cannot be read or parsed; the message names file and line.
    """
    text = read_text(path)
    lines: dict[Location, int] = {}
    data = None
    try:
        loader = _LOADER(text)
        node = loader.get_single_node()
        if node is not None:
            _note_lines(node, (), lines, path)  # before merge keys are resolved: they have no lines
            data = loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(f"{path}:{line}: not valid YAML: {problem}") from None
    return YamlFile(path, data, lines)


def _note_lines(node: yaml.Node, where: Location, lines: dict[Location, int], path: Path) -> None:
    lines.setdefault(where, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        for index, child in enumerate(node.value):
            _note_lines(child, (*where, index), lines, path)
    elif isinstance(node, yaml.MappingNode):
        for key, child in node.value:
            inner = (*where, str(key.value))
            if inner in lines:
                first = lines[inner]
                raise ConfigError(
                    f"{path}:{key.start_mark.line + 1}: key {key.value!r} repeats, first seen on line {first}"
                )
            lines[inner] = key.start_mark.line + 1
            _note_lines(child, inner, lines, path)


def parse_model(model: type[Model], file: YamlFile, context: dict[str, Any] | None = None) -> Model:
    """Check what a YAML file holds against a model.

    Raises:
        ConfigError: The first complaint, with file and line, and how many more there are.
    """
    if not isinstance(file.data, dict):
        raise ConfigError(f"{file.at()}: expected a mapping of keys, got {type(file.data).__name__}")
    try:
        return model.model_validate(file.data, context=context)
    except ValidationError as error:
        found = error.errors()
        first = found[0]
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise ConfigError(f"{_complaint(file, first)}{more}") from None


def _complaint(file: YamlFile, error: Any) -> str:
    location: Location = tuple(error["loc"])
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "unknown_key":
        return f"{file.at((*location, error['ctx']['key']))}: {message}"
    name = ".".join(str(part) for part in location)
    message = message[:1].lower() + message[1:]
    given = error.get("input")
    shown = f", got {given!r}" if isinstance(given, (str, int, float, bool)) else ""
    return f"{file.at(location)}: {name}: {message}{shown}" if name else f"{file.at(location)}: {message}"

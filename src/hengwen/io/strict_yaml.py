"""Read YAML with line numbers and validate it by pydantic; every error names file and line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from hengwen.errors import ConfigError, DataError, did_you_mean
from hengwen.text.numbers import one_line, short_repr

Location = tuple[str | int, ...]
DATA_SUFFIXES = (".jsonl", ".ndjson", ".csv")
"""Endings of data file names, which are not read as YAML."""
_SCALARS = (str, int, float)
_EXPECTED = {
    "several_missing": "fields required",
    "path_type": "expected the path of one file",
    "dict_type": "expected a mapping of keys",
    "model_type": "expected a mapping of keys",
    "model_attributes_type": "expected a mapping of keys",
}
"""Messages for types of validation errors whose own would name pydantic's classes."""
_EXPLAINED = ("missing", "several_missing", "too_short")
"""Types of validation errors that the value would not explain."""
Model = TypeVar("Model", bound="StrictModel")


class StrictModel(BaseModel):
    """A frozen pydantic model that refuses unknown keys; the error suggests the most similar known key."""

    former_keys: ClassVar[dict[str, str]] = {}
    """Old names of keys, which older files may contain; each is mapped to the present name."""
    written_keys: ClassVar[dict[str, str]] = {}
    """Keys of a file that differ from the Python name of their field; each is mapped to this name."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _no_unknown_keys(cls, data: Any) -> Any:
        if isinstance(data, dict):
            data = rename_keys(data, cls.former_keys)
            known = {field.alias or name for name, field in cls.model_fields.items()}
            for key in data:
                if key not in known:
                    hint = did_you_mean(str(key), known)
                    raise PydanticCustomError(
                        "unknown_key", "unknown key '{key}'{hint}", {"key": str(key), "hint": hint}
                    )
        return data


def rename_keys(data: Mapping[str, Any], former_keys: Mapping[str, str]) -> dict[str, Any]:
    """Return the data with keys of older versions replaced by their present names."""
    for former, key in former_keys.items():
        if former in data and key in data:
            raise ValueError(f"{former!r} is the former name of {key!r}: give only one of them")
    return {former_keys.get(key, key): value for key, value in data.items()}


@dataclass(frozen=True, slots=True)
class YamlFile:
    """The data of a YAML file, and the line of every value."""

    path: Path
    data: Any
    lines: dict[Location, int]
    text: str = ""

    def at(self, location: Iterable[str | int] = ()) -> str:
        """Return ``file:line`` of a value."""
        nearest = tuple(location)
        while nearest and nearest not in self.lines:
            nearest = nearest[:-1]
        return f"{self.path}:{self.lines.get(nearest, 1)}"

    def value(self, location: Iterable[str | int]) -> Any:
        """Return the value at a location; None if there is no value."""
        value = self.data
        for key in location:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return None
        return value


@contextmanager
def read_errors(path: Path, kind: type[ConfigError | DataError]) -> Iterator[None]:
    """Turn errors of a file that cannot be opened or read into a ``kind`` of error that names it."""
    try:
        yield
    except FileNotFoundError:
        raise kind(f"{path}: no such file") from None
    except IsADirectoryError:
        message = f"{path}: cannot be read: it is a folder; name a file in it"
        raise kind(message) from None
    except OSError as error:
        raise kind(f"{path}: cannot be read: {error.strerror}") from None


def read_text(path: Path) -> str:
    """Read a UTF-8 file (a byte order mark is allowed)."""
    with read_errors(path, ConfigError), path.open("rb") as file:
        raw = file.read(MAX_TEXT + 1)
    if len(raw) > MAX_TEXT:
        raise ConfigError(f"{path}: larger than {MAX_TEXT >> 20} MiB; split it")
    return decode(raw, path)


def decode(raw: bytes, path: Path, first_line: int = 1) -> str:
    """Decode UTF-8 bytes of a file."""
    try:
        return raw.decode("utf-8-sig" if first_line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        line = first_line + raw.count(b"\n", 0, error.start)
        if _is_chinese(raw):
            remedy = f"iconv -f GB18030 -t UTF-8 {path.name} > utf8-{path.name}"
            raise ConfigError(f"{path}:{line}: not UTF-8, but GBK or GB18030; convert it: {remedy}") from None
        raise ConfigError(
            f"{path}:{line}: not UTF-8 (byte 0x{raw[error.start]:02x}); save the file as UTF-8"
        ) from None


def _is_chinese(raw: bytes) -> bool:
    """Whether bytes are a text in GB18030 whose characters beyond ASCII are mostly common Chinese ones."""
    try:
        text = raw.decode("gb18030")
    except UnicodeDecodeError:
        return False
    others = [char for char in text if char > "\x7f"][:MAX_GUESSED]
    # In GB 2312, level 1, the common characters, has lead bytes B0 to D7.
    common = sum(len(code := char.encode("gb18030")) == 2 and 0xA1 <= code[0] <= 0xD7 for char in others)
    return 2 * common > len(others)


_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""PyYAML's C loader is used if it is installed, because it is ten times as fast."""
MAX_DEPTH = 64
"""Maximum number of lists and mappings inside each other; deeper files crash the composer."""
MAX_BITS = 256
"""Maximum size of an integer; Python refuses to print very long ones."""
MAX_NODES = 50_000
"""Maximum number of values, where each alias counts as all values that it stands for."""
MANY_VALUES = f"more than {MAX_NODES:,} values, with those that aliases repeat"
MAX_GUESSED = 1_000
"""Maximum number of characters by which the encoding of a file is guessed."""
MAX_TEXT = 16 << 20
"""Maximum number of bytes of a file that is read as a whole."""


class _Loader(_BASE):  # type: ignore[misc]
    """Loader that names the line of a value that its tag does not allow."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep)
            if type(value) is int and value.bit_length() > MAX_BITS:
                raise OverflowError
            return value
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):  # by its tag: 2024-13-45
            kind = node.tag.rpartition(":")[2]
            problem = f"not a valid {kind}: {short_repr(node.value)}; put it in quotes if it is text"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


def _check_size(text: str) -> None:
    """Refuse a text whose aliases or nesting would take all memory, before it is composed."""
    sizes: dict[str | None, int] = {}
    opened: list[tuple[str | None, int]] = []
    for count, event in enumerate(yaml.parse(text, Loader=_BASE), start=1):
        _check(event, count <= 2 * MAX_NODES, MANY_VALUES)  # a list or mapping is two events
        if isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, 1))
            _check(event, len(opened) <= MAX_DEPTH, f"nested more than {MAX_DEPTH} levels deep")
        elif isinstance(event, yaml.CollectionEndEvent | yaml.ScalarEvent | yaml.AliasEvent):
            if isinstance(event, yaml.AliasEvent):
                is_known = all(anchor != event.anchor for anchor, _ in opened)
                _check(event, is_known, f"the alias *{event.anchor} stands inside its own value")
                size = sizes.get(event.anchor, 1)
            else:
                anchor, size = (event.anchor, 1) if isinstance(event, yaml.ScalarEvent) else opened.pop()
                sizes[anchor] = size
            if opened:
                opened[-1] = (opened[-1][0], opened[-1][1] + size)
            _check(event, size <= MAX_NODES, MANY_VALUES)


def _check(event: yaml.Event, is_met: bool, problem: str) -> None:
    if not is_met:
        raise yaml.constructor.ConstructorError(None, None, problem, cast("yaml.Mark", event.start_mark))


MAX_MISSING = 12
"""Missing keys of other mappings that an error names."""
MAX_PROBLEM = 200
"""Maximum number of characters of the parser's message, which may quote the file."""


def load_yaml(path: Path) -> YamlFile:
    """Read a YAML file (safe tags only); keys must be unique."""
    if path.suffix.lower() in DATA_SUFFIXES:
        raise ConfigError(f"{path}: expected a .yaml file, got a file of rows")
    text = read_text(path)
    lines: dict[Location, int] = {}
    data = None
    try:
        _check_size(text)
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is not None:
            _collect_lines(node, (), lines, path)  # resolving merge keys would remove line numbers
            data = loader.construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = one_line((getattr(error, "problem", None) or str(error))[:MAX_PROBLEM], MAX_PROBLEM)
        tabs = "; indent with spaces, not tabs" if _is_indented_by_tab(text, line) else ""
        raise ConfigError(f"{path}:{line}: not valid YAML: {problem}{tabs}") from None
    return YamlFile(path, data, lines, text)


def _is_indented_by_tab(text: str, line: int) -> bool:
    rows = text.split("\n", line)[line - 1 : line]
    return any("\t" in row[: len(row) - len(row.lstrip())] for row in rows)


def _collect_lines(node: yaml.Node, location: Location, lines: dict[Location, int], path: Path) -> None:
    lines.setdefault(location, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        for index, child in enumerate(node.value):
            _collect_lines(child, (*location, index), lines, path)
    elif isinstance(node, yaml.MappingNode):
        for key, child in node.value:
            inner = (*location, str(key.value))
            if inner in lines:
                first = lines[inner]
                raise ConfigError(
                    f"{path}:{key.start_mark.line + 1}: key {key.value!r} repeats, first seen on line {first}"
                )
            lines[inner] = key.start_mark.line + 1
            _collect_lines(child, inner, lines, path)


def parse_model(model: type[Model], file: YamlFile) -> Model:
    """Validate the data of a YAML file."""
    if not isinstance(file.data, dict):
        kind = "an empty file" if file.data is None else type(file.data).__name__
        raise ConfigError(f"{file.at()}: expected a mapping of keys, got {kind}")
    try:
        return model.model_validate(file.data)
    except ValidationError as error:
        first, *others = _with_all_missing(error.errors())
        message, missing = _message(file, first), _missing_keys(file, others)
        if others:
            message += f"; also missing: {missing}" if missing else f" (and {len(others)} more)"
        raise ConfigError(message) from None


def _missing_keys(file: YamlFile, errors: list[Any]) -> str:
    """Return the keys that other mappings lack; empty if an error is another one, or there are many."""
    written = {tuple(map(str, location)) for location in file.lines}
    keys = [tuple(map(str, error["loc"])) for error in errors if error["type"] == "missing"]
    are_all = len(keys) == len(errors) <= MAX_MISSING and all(key[:-1] in written for key in keys)
    return ", ".join(".".join(key) for key in keys) if are_all else ""


def _with_all_missing(errors: list[Any]) -> list[Any]:
    """Return the errors, where the first missing key stands for all that its mapping lacks."""
    first = errors[0]
    if first["type"] != "missing":
        return errors
    mapping = first["loc"][:-1]
    missing = [error for error in errors if error["type"] == "missing" and error["loc"][:-1] == mapping]
    names = ", ".join(str(error["loc"][-1]) for error in missing)
    others = [error for error in errors if error not in missing]
    stated = {**first, "type": "several_missing", "loc": (*mapping, names)}
    return [stated, *others] if len(missing) > 1 else errors


def _message(file: YamlFile, error: Any) -> str:
    location = _as_written(file, tuple(error["loc"]))
    message = _plain_message(error)
    if error["type"] == "unknown_key":
        return f"{file.at((*location, error['ctx']['key']))}: {message}"
    name = ".".join(str(part) for part in location)
    return f"{file.at(location)}: {name}: {message}{_got(error)}" if name else f"{file.at()}: {message}"


def _as_written(file: YamlFile, location: Location) -> Location:
    """Return the location of a value with the keys as the file spells them."""
    if not location or location in file.lines:
        return location
    others = [
        (*location[:-1], old)
        for model in StrictModel.__subclasses__()
        for old, new in {**model.former_keys, **model.written_keys}.items()
        if new == location[-1]
    ]
    return next((written for written in others if written in file.lines), location)


def _plain_message(error: Any) -> str:
    """Return pydantic's message in plain words, without a capital letter at the start."""
    value = error.get("input")
    if error["type"] in _EXPECTED:
        return _EXPECTED[error["type"]]
    if error["type"] == "too_short":
        n = error["ctx"]["min_length"]
        return f"expected at least {n} item{'s' if n > 1 else ''}"
    if error["type"] == "list_type":
        return f"expected a list, such as [{value}]" if isinstance(value, _SCALARS) else "expected a list"
    message = str(error["msg"]).removeprefix("Value error, ").partition(", unable to parse")[0]
    return message[:1].lower() + message[1:]


def _got(error: Any) -> str:
    value = error.get("input")
    if error["type"] in _EXPLAINED:
        return ""
    if error["type"] == "value_error" and not isinstance(value, _SCALARS):
        return ""
    return "" if error["type"] == "value_error" and repr(value) in error["msg"] else f", got {_kind(value)}"


def _kind(value: object) -> str:
    """Return the repr of a scalar; for any other value, return its type in words, such as ``a list``."""
    if isinstance(value, _SCALARS):
        return short_repr(value)
    return {dict: "a mapping", list: "a list", type(None): "nothing"}.get(type(value), type(value).__name__)

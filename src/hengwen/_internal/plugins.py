"""Import plug-ins by location (``module:Class``, ``file.py:Class``), and describe their exceptions."""

from __future__ import annotations

import hashlib
import operator
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import Any

from hengwen.errors import ConfigError, JudgeError, PluginError, did_you_mean
from hengwen.records import STATUSES, Status

_FILES: dict[str, str] = {}
"""Path of each Python file that ``import_file`` imported, by the name of its module."""


def is_location(spec: str) -> bool:
    """Return whether a name is a location (it has a colon or ends in ``.py``), not the name of a plug-in."""
    return ":" in spec or spec.endswith(".py")


def source_path(spec: str) -> Path | None:
    """Return the file of ``file.py:Class``; None if the name has another form."""
    path, separator, _ = spec.rpartition(":")
    return Path(path) if separator and path.endswith(".py") else None


def source_digest(path: Path) -> str:
    """Return the sha256 (hex) of the content of a file."""
    return hashlib.sha256(_read(path)).hexdigest()


def load_class(spec: str) -> Any:
    """Import a class by its location; this is the only function that imports code by location."""
    location, _, name = spec.rpartition(":")
    if not location or not name.isidentifier():
        raise ConfigError(f"{spec!r} names no class; write module:Class or file.py:Class")
    path = source_path(spec)
    try:
        module = import_module(location) if path is None else import_file(path)
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{spec!r} cannot be loaded: {type(error).__name__}: {error}") from error
    if not hasattr(module, name):
        classes = [key for key, value in vars(module).items() if isinstance(value, type)]
        raise ConfigError(f"{location} has no class {name!r}{did_you_mean(name, classes)}")
    return getattr(module, name)


def imported_files(pickled: bytes) -> dict[str, str]:
    """Return the Python files, imported by ``import_file``, that a pickled object refers to."""
    return {name: path for name, path in list(_FILES.items()) if name.encode() in pickled}


def import_file(path: Path) -> ModuleType:
    """Import a Python file; an unchanged file is executed only once."""
    resolved = path.resolve()
    content = _read(path)
    identity = hashlib.sha256(bytes(resolved) + b"\0" + content).hexdigest()
    name = f"hengwen_file_{identity[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, resolved)
    assert spec is not None  # never None, because the path ends in .py
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses in the file look up their module while they are defined
    try:
        # not by the loader, whose cached code may be that of a file with the same size and time
        exec(compile(content, str(resolved), "exec"), module.__dict__)  # noqa: S102 - trusted code
    except BaseException:
        del sys.modules[name]
        raise
    _FILES[name] = str(resolved)
    return module


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None


def describe_error(error: BaseException) -> tuple[Status, str, str]:
    """Return (status, message, raw reply) of the Failure that records an exception."""
    if isinstance(error, JudgeError):
        status: Status = next((known for known in STATUSES if known == error.status), "scorer_error")
        return status, str(error), error.raw
    return "scorer_error", f"{type(error).__name__}: {error}", ""


def whole_number(name: str, value: object, minimum: int = 1) -> int:
    """Return an option's value if it is a whole number of at least ``minimum``."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = minimum - 1
    if number < minimum or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number >= {minimum}, got {value!r}")
    return number


def check_texts(name: str, texts: object) -> None:
    """Raise a TypeError if one text is passed for a list of texts: its characters would count as texts."""
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"{name} must be a list of texts, got {texts!r:.40}")


def check_number(name: str, value: object) -> None:
    """Raise a TypeError unless a value is a number; ``float`` would also read a text or a truth value."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r:.40}")

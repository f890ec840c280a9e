"""The format of a report file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = ("html", "md", "json")


def format_of(path: Path) -> str:
    """Return the format that a file suffix names."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        suffixes = ", ".join(f".{name}" for name in FORMATS)
        raise ConfigError(f"unknown format of report {str(path)!r}; use one of {suffixes}")
    return suffix

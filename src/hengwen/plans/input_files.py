"""List the files that a plan names, so that no output file overwrites one of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hengwen.plans.plan import Plan

MAX_PATH = 1000
"""Maximum number of characters of a text that may be a path; longer texts are prompts or notes."""


def input_files(plan: Plan) -> list[Path]:
    """Return the files that a plan names, including files in options of scorers, rules and backends."""
    return files_in(plan.model_dump())


def files_in(options: Mapping[str, Any]) -> list[Path]:
    """Return the existing files among the values of options, at any depth of nesting."""
    return [path for path in _paths(options) if _is_file(path)]


def _paths(value: Any) -> Iterator[Path]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _paths(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _paths(item)
    elif isinstance(value, Path):
        yield value
    elif isinstance(value, str) and 0 < len(value) <= MAX_PATH:
        yield Path(value)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # the text is too long for a path, or has a null character
        return False

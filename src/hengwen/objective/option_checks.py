"""Options of scorers: the check of their values, and signatures that contain them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise an error unless an option has one of the allowed values."""
    if value not in choices:
        *others, last = choices
        listed = f"{', '.join(others)} or {last}" if others else last
        raise ValueError(f"{name} must be {listed}, got {value!r}")


def check_flag(name: str, value: object) -> None:
    """Raise an error unless an option is true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {value!r}")


@lru_cache(maxsize=64)
def build_signature(*parts: object) -> str:
    """Return the parts of a signature joined by ``|``."""
    return "|".join(
        part if isinstance(part, str) else f"{part[0]}:{_format_value(part[1])}"  # type: ignore[index]
        for part in parts
    )


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)

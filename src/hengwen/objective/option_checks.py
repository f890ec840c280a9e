"""Check option values; every error message names the option and the value."""

from __future__ import annotations

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

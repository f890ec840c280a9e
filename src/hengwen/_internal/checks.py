"""Check option values."""

from __future__ import annotations

import operator


def whole_number(name: str, value: object, minimum: int = 1) -> int:
    """Return an option's value if it is a whole number of at least ``minimum``."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = minimum - 1
    if number < minimum or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number >= {minimum}, got {value!r}")
    return number

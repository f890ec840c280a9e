"""Check the values of options and arguments."""

from __future__ import annotations

import operator
from numbers import Real


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

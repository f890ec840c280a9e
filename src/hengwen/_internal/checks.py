"""Check option values."""

from __future__ import annotations

import operator


def whole_number(name: str, value: object, minimum: int = 1) -> int:
    """Return an option's value if it is a whole number of at least ``minimum``.

    Args:
        name: The option, for the message.
        value: An int, or an object with ``__index__`` such as a NumPy integer; a bool is refused.
        minimum: The lowest value allowed.

    Raises:
        ValueError: The value is not a whole number, or is below the minimum.

    Examples:
        >>> whole_number("m", 3)
        3
        >>> whole_number("m", 1, 2)
        Traceback (most recent call last):
            ...
        ValueError: m must be a whole number >= 2, got 1
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = minimum - 1
    if number < minimum or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number >= {minimum}, got {value!r}")
    return number

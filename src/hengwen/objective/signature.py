"""Build the signature of a scorer: a string with every setting that can change its scores."""

from __future__ import annotations

from functools import lru_cache


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

"""Signatures: strings with every setting that can change a score."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=64)
def build_signature(*parts: object) -> str:
    """Join what can move a number, ``name:value`` each; yes and no for truth.

    Examples:
        >>> build_signature("rouge", ("beta", 1.0), ("stem", False))
        'rouge|beta:1|stem:no'
    """
    return "|".join(part if isinstance(part, str) else f"{part[0]}:{_said(part[1])}" for part in parts)  # type: ignore[index]


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)

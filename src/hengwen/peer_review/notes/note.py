"""A note: something about a result that a reader must know."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something about the result that a reader must know, in words."""

    code: str
    zh: str
    en: str

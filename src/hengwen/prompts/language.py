"""Languages of prompts and of a judge's reasons."""

from __future__ import annotations

from typing import Literal, cast, get_args

Language = Literal["zh", "en"]


def check_language(value: str) -> Language:
    """Return the value of a language option if it is valid."""
    if value not in get_args(Language):
        raise ValueError(f"language must be 'zh' or 'en', got {value!r}")
    return cast("Language", value)

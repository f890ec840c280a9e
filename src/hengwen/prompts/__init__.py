"""Rubrics and prompt templates: text is data. Names load on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hengwen.prompts.rubric import Rubric, load_rubric

_HOMES = {
    "Rubric": "hengwen.prompts.rubric",
    "load_rubric": "hengwen.prompts.rubric",
}

__all__ = ["Rubric", "load_rubric"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})

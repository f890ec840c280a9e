"""Rubrics and prompt templates, which are packaged as data files. Names are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.prompts.rubric import Rubric as Rubric, load_rubric as load_rubric

_EXPORTS = {
    "rubric": "Rubric load_rubric",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)

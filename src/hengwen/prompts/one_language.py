"""Fill in the missing language of rubrics that are written in one language only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from hengwen.text.language import Language

if TYPE_CHECKING:
    from collections.abc import Mapping

ONE_LANGUAGE = "rubric {!r} is in one language only: its texts stand for both zh and en"
"""Warning about a rubric that is in one language; ``{!r}`` is replaced by the name of the rubric."""


def in_both_languages(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """Use each text of a rubric for Chinese and for English if the whole rubric is in one language."""
    values = [data[key] for key in ("title", "instructions") if key in data]
    for key in ("levels", "criteria"):
        values += data[key].values() if isinstance(data.get(key), dict) else []
    languages = {
        name for value in values if isinstance(value, dict) for name in get_args(Language) if name in value
    }
    if len(languages) > 1 or not (languages or any(isinstance(value, str) for value in values)):
        return None
    completed = {**data}
    for key in ("title", "instructions"):
        if key in data:
            completed[key] = _complete(data[key])
    for key in ("levels", "criteria"):
        if isinstance(data.get(key), dict):
            completed[key] = {name: _complete(value) for name, value in data[key].items()}
    return completed


def _complete(value: Any) -> Any:
    """Return a text as a mapping with this text for both languages; return other values unchanged."""
    if isinstance(value, str):
        return dict.fromkeys(get_args(Language), value)
    texts = [value[name] for name in get_args(Language) if name in value] if isinstance(value, dict) else []
    return {**value, **dict.fromkeys(get_args(Language), texts[0])} if texts else value

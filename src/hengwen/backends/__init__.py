"""Who answers a prompt. Names load on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hengwen.backends.openai_backend import OpenAIBackend

_HOMES = {
    "OpenAIBackend": "hengwen.backends.openai_backend",
}

__all__ = ["OpenAIBackend"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})

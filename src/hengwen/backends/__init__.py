"""Who answers a prompt. Names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.lazy import lazy_exports

if TYPE_CHECKING:
    from hengwen.backends.openai_backend import OpenAIBackend

_HOMES = {
    "OpenAIBackend": "openai_backend",
}

__all__ = [
    "OpenAIBackend",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)

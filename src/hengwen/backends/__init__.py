"""Backends: they send prompts to models and return the replies. Names are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.backends.langchain.backend import LangChainBackend
    from hengwen.backends.openai.backend import OpenAIBackend
    from hengwen.backends.replay import ReplayBackend

_EXPORTS = {
    "LangChainBackend": "langchain.backend",
    "OpenAIBackend": "openai.backend",
    "ReplayBackend": "replay",
}

__all__ = [
    "LangChainBackend",
    "OpenAIBackend",
    "ReplayBackend",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)

"""Backends: they send prompts to models and return the replies. Names are imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.backends.langchain import LangChainBackend as LangChainBackend
    from hengwen.backends.openai import OpenAIBackend as OpenAIBackend
    from hengwen.backends.replay import ReplayBackend as ReplayBackend

_EXPORTS = {
    "langchain": "LangChainBackend",
    "openai": "OpenAIBackend",
    "replay": "ReplayBackend",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)

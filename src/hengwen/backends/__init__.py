"""Who answers a prompt. Names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.lazy import lazy_exports

if TYPE_CHECKING:
    from hengwen.backends.langchain_backend import LangChainBackend
    from hengwen.backends.openai_backend import OpenAIBackend
    from hengwen.backends.replay_backend import ReplayBackend

_HOMES = {
    "LangChainBackend": "langchain_backend",
    "OpenAIBackend": "openai_backend",
    "ReplayBackend": "replay_backend",
}

__all__ = [
    "LangChainBackend",
    "OpenAIBackend",
    "ReplayBackend",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)

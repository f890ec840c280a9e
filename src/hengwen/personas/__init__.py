"""Personas (characters that a model plays), and tasks that evaluate how well a model plays one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.personas.persona import Persona as Persona, load_persona as load_persona
    from hengwen.personas.persona import system_prompt as system_prompt

_EXPORTS = {
    "persona": "Persona load_persona system_prompt",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)

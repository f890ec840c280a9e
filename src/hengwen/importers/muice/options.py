"""Options of the Muice import: choices that the document does not make."""

from __future__ import annotations

from dataclasses import dataclass

from hengwen.personas.tasks import DEFAULT_PRESET


@dataclass(frozen=True, slots=True, kw_only=True)
class MuiceOptions:
    """Choices that the document does not make."""

    topics: str = "code"
    """Set of posts: ``code`` (six) or ``legacy5``."""
    subchoice: str = "one"
    """Prompts from greetings and holiday: ``one``, or ``one_of_each``."""
    pick: str | None = None
    """Name of that prompt, such as ``早上``; None: selected by the seed."""
    seed: int = 0
    """Index of that prompt, modulo their number."""
    preset: str = DEFAULT_PRESET
    """Preset of sampling parameters; the document only says "default", and programs differ."""
    exempt_duplicates: bool = False
    """Whether repeated answers are allowed for items with one right number; the document has no exception."""

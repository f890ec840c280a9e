"""Options of the Muice import: settings that the document leaves open."""

from __future__ import annotations

from dataclasses import dataclass

from hengwen.personas.tasks import DEFAULT_PRESET


@dataclass(frozen=True, slots=True, kw_only=True)
class MuiceOptions:
    """Settings that the document leaves open."""

    topics: str = "code"
    """Topics of posts: ``code`` (the six in the program) or ``legacy5`` (the five in its config template)."""
    subchoice: str = "one"
    """How many prompts to take from greetings and holiday: ``one`` in total, or ``one_of_each``."""
    pick: str | None = None
    """Name of the greeting or holiday prompt, such as ``早上``; None selects it by the seed."""
    seed: int = 0
    """Index of the greeting or holiday prompt, modulo the number of such prompts."""
    preset: str = DEFAULT_PRESET
    """Preset of sampling parameters; the document only says "default", which differs between programs."""
    exempt_duplicates: bool = False
    """Whether repeated answers are allowed for items with one right number; the document forbids them."""

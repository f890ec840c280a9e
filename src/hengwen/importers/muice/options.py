"""What the Muice document leaves open, and a suite must decide."""

from __future__ import annotations

from dataclasses import dataclass

from hengwen.personas.tasks import DEFAULT_PRESET


@dataclass(frozen=True, slots=True, kw_only=True)
class MuiceOptions:
    """What the document leaves open."""

    topics: str = "code"
    """Which posts are asked: ``code`` (six) or ``legacy5``."""
    subchoice: str = "one"
    """Of greetings and holiday: ``one`` prompt, or ``one_of_each``."""
    pick: str | None = None
    """The name of that prompt, such as ``早上``; default: by the seed."""
    seed: int = 0
    preset: str = DEFAULT_PRESET
    """Sampling parameters: the document says "default", and programs differ."""
    exempt_duplicates: bool = False
    """Whether items with one right number may be answered alike; the document makes no exception."""

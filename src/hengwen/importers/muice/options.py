"""Options of the Muice import, for settings that the document does not state."""

from __future__ import annotations

from dataclasses import dataclass

from hengwen.personas.tasks import DEFAULT_PRESET


@dataclass(frozen=True, slots=True, kw_only=True)
class MuiceOptions:
    """Options for settings that the Muice document does not state."""

    topics: str = "code"
    """Topics of posts: ``code`` for the six in the Muice program, ``legacy5`` for the five in its config
    template."""
    subchoice: str = "one"
    """``one``: one greeting or holiday prompt; ``one_of_each``: one greeting and one holiday prompt."""
    pick: str | None = None
    """Name of the greeting or holiday prompt, such as ``早上``; None selects it by the seed."""
    seed: int = 0
    """Selects the greeting or holiday prompt, as an index modulo the number of these prompts."""
    preset: str = DEFAULT_PRESET
    """Preset of sampling parameters. The Muice document only says "default", which stands for different
    parameters in different programs."""
    exempt_duplicates: bool = False
    """Whether a model may give the same answer again to a prompt that asks for one right number. The Muice
    document forbids such repeats."""

"""Options of the Muice import, for settings that the imported document does not state."""

from __future__ import annotations

from dataclasses import dataclass

from hengwen.personas.tasks import DEFAULT_PRESET


@dataclass(frozen=True, slots=True, kw_only=True)
class MuiceOptions:
    """Options for settings that the Muice document does not state."""

    topics: str = "code"
    """Prompts for posts (``<生成推文: ...>``): ``code`` for the six in the code of the Muice program,
    ``legacy5`` for the five in its configuration template."""
    subchoice: str = "one"
    """Greeting and holiday prompts of the plan: ``one`` for a single prompt of either kind, ``one_of_each``
    for one prompt of each kind."""
    pick: str | None = None
    """Name of the greeting or holiday prompt, such as ``早上``; None selects it by the seed."""
    seed: int = 0
    """Index of the greeting or holiday prompt, modulo the number of prompts to select from. With
    ``one_of_each``, the seed selects only the greeting."""
    preset: str = DEFAULT_PRESET
    """Preset of sampling parameters. The Muice document only says "default", which stands for different
    parameters in different programs."""
    exempt_duplicates: bool = False
    """Whether a model may repeat an answer to a calculation, for which only one number is right. The Muice
    document forbids repeated answers."""

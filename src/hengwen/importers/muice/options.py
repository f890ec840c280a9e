"""Options of the Muice import, for settings that the imported document does not state."""

from __future__ import annotations

from dataclasses import dataclass

from hengwen._internal.checks import whole_number
from hengwen.personas.tasks import DEFAULT_PRESET


@dataclass(frozen=True, slots=True, kw_only=True)
class MuiceOptions:
    """Options of ``hengwen import muice``, for settings that the imported evaluation document leaves open."""

    topics: str = "code"
    """Prompts that ask the model for a post (``<生成推文: ...>``). ``code``: the six prompts in the code of
    the Muice program; ``legacy5``: the five prompts in the program's configuration template."""
    subchoice: str = "one"
    """``one``: the plan has a single prompt, which is a greeting or a holiday prompt. ``one_of_each``: the
    plan has one greeting prompt and one holiday prompt."""
    pick: str | None = None
    """Name of the greeting or holiday prompt to use, such as ``早上``; with ``one_of_each``, it must be a
    greeting. None selects the prompt by ``seed``."""
    seed: int = 0
    """Index of the greeting or holiday prompt, modulo the number of prompts to select from. With
    ``one_of_each``, the seed selects only the greeting."""
    preset: str = DEFAULT_PRESET
    """Preset of sampling parameters. The Muice document only says "default", which stands for different
    parameters in different programs."""
    exempt_duplicates: bool = False
    """Whether a model may repeat an answer to a calculation, for which only one number is right. The Muice
    document forbids repeated answers."""

    def __post_init__(self) -> None:
        whole_number("seed", self.seed, 0)
        if not isinstance(self.exempt_duplicates, bool):
            raise ValueError(f"exempt_duplicates must be true or false, got {self.exempt_duplicates!r}")

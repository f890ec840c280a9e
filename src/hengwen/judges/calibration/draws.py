"""How answers were selected for labelling: the text that is stored with each label, and counts of labels."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

RANDOM = "random"
"""First word of the text that is stored with labels of a simple random sample."""
UNKNOWN = "unknown"
"""Text that stands for labels that do not state how their answer was selected."""


def random_draw(seed: int, population: int) -> str:
    """Return the text that is stored with labels of a simple random sample (without strata)."""
    return f"{RANDOM}|seed:{seed}|from:{population}|strata:none"


def count_draws(draws: Iterable[str]) -> dict[str, int]:
    """Return the number of labels for each way of selecting answers, in the order of first appearance."""
    return dict(Counter(drawn.strip() or UNKNOWN for drawn in draws))


def chosen_draws(draws: Iterable[str]) -> list[str]:
    """Return the descriptions of how answers were selected, except those of random or unknown selection."""
    return [drawn for drawn in draws if drawn != UNKNOWN and drawn.partition("|")[0] != RANDOM]

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
    """Return the text that is stored with labels of a simple random sample (without strata).

    Args:
        seed: Seed of the random order.
        population: Number of answers from which the sample is drawn.

    Examples:
        >>> random_draw(20, 189)
        'random|seed:20|from:189|strata:none'
    """
    return f"{RANDOM}|seed:{seed}|from:{population}|strata:none"


def count_draws(draws: Iterable[str]) -> dict[str, int]:
    """Return the number of labels for each way of selecting answers, in the order of first appearance.

    Examples:
        >>> count_draws(["random|seed:0|from:9|strata:none", "", ""])
        {'random|seed:0|from:9|strata:none': 1, 'unknown': 2}
    """
    return dict(Counter(drawn.strip() or UNKNOWN for drawn in draws))


def chosen_draws(draws: Iterable[str]) -> list[str]:
    """Return the descriptions of how answers were selected, except those of random or unknown selection.

    Examples:
        >>> chosen_draws(["random|seed:0|from:9|strata:none", "unknown", "the odd ones"])
        ['the odd ones']
    """
    return [drawn for drawn in draws if drawn != UNKNOWN and drawn.partition("|")[0] != RANDOM]

"""Weight the members of a group so that its mix of levels equals that of another group."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

BINS = 5
"""A scale without levels is cut into this number of equal parts, which serve as levels."""


class LevelWeights(NamedTuple):
    """Weights of the units of a group (such as anchors), with a mean of 1."""

    weights: tuple[float, ...]
    uncovered: float
    """Share of the target's members at levels that no unit has; the weights ignore these members."""


def level_weights(units: Sequence[int], target: Sequence[int]) -> LevelWeights | None:
    """Return weights that give units (such as anchors) the same mix of levels as a target (such as answers).

    Args:
        units: Level of each unit, such as the human level of each anchor.
        target: Level of each member of the target, such as the judge's level of each answer.

    Returns:
        The weights, which are 0 for units at a level that no member of the target has. None if the units and
        the target have no level in common.

    Notes:
        Post-stratification: the weight of a unit is the share of its level in the target, divided by the
        share of this level among the units.

    Examples:
        >>> level_weights([0, 0, 1, 1], [0, 1, 1, 1])
        LevelWeights(weights=(0.5, 0.5, 1.5, 1.5), uncovered=0.0)
        >>> level_weights([1, 1], [0, 1, 1, 1])
        LevelWeights(weights=(1.0, 1.0), uncovered=0.25)
    """
    counts, target_counts = Counter(units), Counter(target)
    covered = sum(count for level, count in target_counts.items() if level in counts)
    if not covered:
        return None
    return LevelWeights(
        tuple(target_counts[level] / covered * len(units) / counts[level] for level in units),
        1 - covered / len(target),
    )


def level_index(
    value: float, low: float, high: float, levels: Sequence[float] | None, bins: int = BINS
) -> int:
    """Return the index of the level nearest to a value; without levels, of the part of the scale it lies in.

    Args:
        value: A value on the scale.
        low: Lowest value of the scale.
        high: Highest value of the scale, > ``low``.
        levels: Levels in ascending order; None if the scale has none.
        bins: Number of equal parts of a scale without levels.

    Examples:
        >>> level_index(0.6, 0, 1, (0, 0.25, 0.5, 0.75, 1)), level_index(1.0, 0, 1, None)
        (2, 4)
    """
    if levels is not None:
        return min(range(len(levels)), key=lambda index: abs(levels[index] - value))
    return min(bins - 1, max(0, int((value - low) / (high - low) * bins)))

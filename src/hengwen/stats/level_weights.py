"""Weight values so that their levels have the same shares as in another set of values."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BINS = 5
"""Number of equal parts into which a scale without levels is divided; the parts serve as its levels."""


def level_weights(units: Sequence[int], target: Sequence[int]) -> tuple[float, ...] | None:
    """Return weights (mean 1) with which each level has the same share among units as in a target.

    Levels that no unit has are left out of the target.

    Args:
        units: Level of each unit, such as the level that people gave each labelled answer.
        target: Level of each member of the target, such as the judge's level of each answer.

    Returns:
        A weight for each unit, 0 at levels that the target does not have; None if units and target have no
        common level.

    Notes:
        Post-stratification: the weight of a unit is the share of its level in the target, divided by the
        share of this level among the units.

    Examples:
        >>> level_weights([0, 0, 1, 1], [0, 1, 1, 1])
        (0.5, 0.5, 1.5, 1.5)
        >>> level_weights([1, 1], [0, 1, 1, 1])
        (1.0, 1.0)
    """
    counts, target_counts = Counter(units), Counter(target)
    covered = sum(count for level, count in target_counts.items() if level in counts)
    if not covered:
        return None
    return tuple(target_counts[level] / covered * len(units) / counts[level] for level in units)


def level_index(value: float, low: float, high: float, levels: Sequence[float] | None) -> int:
    """Return the index of the level nearest to a value.

    On a scale without levels, return the index of the fifth of the scale that contains the value.

    Args:
        value: A value on the scale.
        low: Lowest value of the scale.
        high: Highest value of the scale, > ``low``.
        levels: Levels in ascending order; None if the scale has none.

    Examples:
        >>> level_index(0.6, 0, 1, (0, 0.25, 0.5, 0.75, 1)), level_index(1.0, 0, 1, None)
        (2, 4)
    """
    if levels is not None:
        return min(range(len(levels)), key=lambda index: abs(levels[index] - value))
    return min(BINS - 1, max(0, int((value - low) / (high - low) * BINS)))

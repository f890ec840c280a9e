"""Weight values so that their levels have the same shares as in another set of values."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BINS = 5
"""Number of equal parts into which a scale without levels is divided; the parts serve as its levels."""


def level_weights(units: Sequence[int], target: Sequence[int]) -> tuple[float, ...] | None:
    """Return weights (mean 1) with which each level has the same share among units as in a target."""
    counts, target_counts = Counter(units), Counter(target)
    covered = sum(count for level, count in target_counts.items() if level in counts)
    if not covered:
        return None
    return tuple(target_counts[level] / covered * len(units) / counts[level] for level in units)


def level_index(value: float, low: float, high: float, levels: Sequence[float] | None) -> int:
    """Return the index of the level nearest to a value."""
    if levels is not None:
        return min(range(len(levels)), key=lambda index: abs(levels[index] - value))
    return min(BINS - 1, max(0, int((value - low) / (high - low) * BINS)))

"""Test the newest checkpoint against several earlier ones by exchanging values within prompts.

The difference between one value and a mean of many is not symmetric, so its sign must not be flipped: at a
ceiling, equal checkpoints would differ. If nothing changed, the newest value of a prompt is exchangeable with
those of the earlier checkpoints.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MIN_DRAWS = 9999
DRAWS_BELOW_LEVEL = 20
"""Number of draws that may be more extreme at any level, however small; fewer make the p-value coarse."""
BLOCK = 512
"""Number of draws that are evaluated at once."""
TIE = 1e-9
"""Relative difference below which two statistics are equal."""


def exchange_test(
    values: Floats, clusters: Sequence[str], *, alpha: float = 0.05, plain: bool = False, seed: int = 0
) -> float:
    """Return the two-sided p-value of the last column (newest) against the columns before it."""
    # In each draw, every cluster of prompts exchanges its newest values with those of a column drawn at
    # random from all columns. The statistic is the sum of newest minus mean of the others, divided by its
    # root sum of squares over clusters unless `plain` (for pass or fail).
    sums, is_possible = _changes(np.asarray(values, np.float64), clusters)
    counts = is_possible.sum(axis=1)
    possible_first = np.argsort(~is_possible, axis=1, kind="stable")
    choices = np.take_along_axis(sums, possible_first, axis=1).ravel()
    rows = np.arange(len(sums)) * sums.shape[1]

    def statistic(changes: Floats) -> Floats:
        totals = np.abs(changes.sum(axis=1))
        if plain:
            return np.asarray(totals)
        norms = np.sqrt(np.square(changes).sum(axis=1))
        return np.asarray(np.divide(totals, norms, out=np.zeros_like(totals), where=norms > 0))

    observed = float(statistic(sums[:, -1][None, :])[0])
    least = observed * (1 - TIE)
    draws = draws_for(alpha)
    generator = np.random.default_rng(seed)
    extreme = 1
    for start in range(0, draws, BLOCK):
        picks = generator.integers(0, counts, (min(BLOCK, draws - start), len(sums)))
        extreme += int((statistic(choices.take(rows + picks)) >= least).sum())
    return extreme / (draws + 1)


def draws_for(alpha: float) -> int:
    """Return the number of draws of a test at a level."""
    return max(MIN_DRAWS, ceil(DRAWS_BELOW_LEVEL / alpha))


def _changes(values: Floats, clusters: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the change of each cluster if each column were the newest, and whether it can be."""
    scored = ~np.isnan(values)
    filled = np.where(scored, values, 0.0)
    others = scored.sum(axis=1, keepdims=True) - scored
    is_possible = scored & (others > 0)
    means = (filled.sum(axis=1, keepdims=True) - filled) / np.maximum(others, 1)
    changes = np.where(is_possible, filled - means, 0.0)
    largest = float(np.abs(filled).max(initial=0.0))
    changes[np.abs(changes) <= 1e-12 * largest] = 0.0
    names = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    codes = np.array([names[name] for name in clusters], np.intp)
    sums, possible = (
        np.zeros((len(names), values.shape[1])),
        np.zeros((len(names), values.shape[1]), np.bool_),
    )
    np.add.at(sums, codes, changes)
    np.logical_or.at(possible, codes, is_possible)
    kept = possible[:, -1]
    return sums[kept], possible[kept]

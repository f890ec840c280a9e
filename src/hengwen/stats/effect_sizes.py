"""Compute effect sizes of a paired comparison, and McNemar's test for scores that pass or fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectSizes:
    """Sizes of the difference between two checkpoints, without a test."""

    wins: int
    """Number of prompts with a better value at the later checkpoint."""
    losses: int
    """Number of prompts with a worse value at the later checkpoint."""
    ties: int
    cliffs_delta: float
    """P(later > earlier) - P(later < earlier) over all pairs of a later and an earlier value, from -1 to
    1."""
    p_greater: float
    """P(later > earlier) + P(equal) / 2 over all pairs of a later and an earlier value: the effect size of
    Brunner and Munzel."""


def effect_sizes(earlier: ArrayLike, later: ArrayLike, *, higher_is_better: bool = True) -> EffectSizes:
    """Return the effect sizes of two checkpoints on the same prompts."""
    before, after = np.asarray(earlier, np.float64), np.asarray(later, np.float64)
    rises, falls = int((after > before).sum()), int((after < before).sum())
    n = len(after)
    rank_sum = float(average_ranks(np.concatenate((after, before)))[:n].sum())
    p_greater = (rank_sum - n * (n + 1) / 2) / n**2
    wins, losses = (rises, falls) if higher_is_better else (falls, rises)
    return EffectSizes(
        wins=wins,
        losses=losses,
        ties=n - rises - falls,
        cliffs_delta=2 * p_greater - 1,
        p_greater=p_greater,
    )


def average_ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return ranks from 1, lowest first, of which equal values share the mean."""
    # scipy.stats has this too, but takes half a second to import
    _, index, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[index]
    return ranks


def mcnemar_p(gained: int, lost: int) -> float:
    """Return the exact two-sided p-value of McNemar's test: are ``gained`` and ``lost`` equally likely?"""
    from scipy.stats import binomtest

    return float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0

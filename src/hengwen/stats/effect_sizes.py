"""Compute effect sizes of a paired comparison, and McNemar's test for scores that pass or fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
    """Return the effect sizes of two checkpoints on the same prompts.

    Wins, losses and ties compare the two values of each prompt. Cliff's delta and P(later > earlier) compare
    every value of one checkpoint with every value of the other, also of different prompts.

    Args:
        earlier: Value of each prompt at the earlier checkpoint, shape (n,), n >= 1.
        later: Value of the same prompts at the later checkpoint, in the same order.
        higher_is_better: Whether a higher value is a win; this does not change Cliff's delta and P(later >
            earlier).

    Notes:
        The time is O(n log n). Cliff (1993); Brunner and Munzel (2000).

    Examples:
        >>> sizes = effect_sizes([0.0, 0.5, 0.5], [0.5, 0.5, 1.0])
        >>> sizes.wins, sizes.losses, sizes.ties, round(sizes.cliffs_delta, 3), round(sizes.p_greater, 3)
        (2, 0, 1, 0.556, 0.778)
    """
    from scipy.stats import rankdata

    before, after = np.asarray(earlier, np.float64), np.asarray(later, np.float64)
    rises, falls = int((after > before).sum()), int((after < before).sum())
    n = len(after)
    rank_sum = float(rankdata(np.concatenate((after, before)))[:n].sum())
    p_greater = (rank_sum - n * (n + 1) / 2) / n**2
    wins, losses = (rises, falls) if higher_is_better else (falls, rises)
    return EffectSizes(
        wins=wins,
        losses=losses,
        ties=n - rises - falls,
        cliffs_delta=2 * p_greater - 1,
        p_greater=p_greater,
    )


def mcnemar_p(gained: int, lost: int) -> float:
    """Return the exact two-sided p-value of McNemar's test: are ``gained`` and ``lost`` equally likely?

    Args:
        gained: Number of prompts that failed before and pass now.
        lost: Number of prompts that passed before and fail now.

    Notes:
        McNemar (1947); the exact form is a binomial test of the prompts that changed.

    Examples:
        >>> mcnemar_p(6, 0), mcnemar_p(0, 0)
        (0.03125, 1.0)
    """
    from scipy.stats import binomtest

    return float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0

"""Consistency of judges over both orders of two answers, and their preference for the first answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.peer_review.battles.matches import match_starts
from hengwen.stats.rankings.codes import group_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hengwen.peer_review.battles.verdicts import Verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCounts:
    """Counts of the matches that each judge judged in both orders; all arrays have the shape (J,)."""

    both: NDArray[np.intp]
    """Number of matches that each judge judged in both orders."""
    consistent: NDArray[np.float64]
    """Number of matches whose verdicts in the two orders are equal."""
    conflicts: NDArray[np.float64]
    """Number of matches whose verdicts in the two orders name different winners."""
    first_share: NDArray[np.float64]
    """Share of verdicts for the answer that was shown first; NaN if no match was judged in both orders."""
    first_error: NDArray[np.float64]
    """Standard error of ``first_share``; NaN for fewer than two matches."""


def order_counts(verdicts: Verdicts, judges: int) -> OrderCounts:
    """Return counts of the matches that each judge judged in both orders."""
    starts = match_starts(verdicts)
    shown_first = np.maximum.reduceat(verdicts.first, starts) == 1
    both = shown_first & (np.minimum.reduceat(verdicts.first, starts) == -1)
    judge = verdicts.judge[starts][both]
    lowest = np.minimum.reduceat(verdicts.outcome, starts)[both]
    highest = np.maximum.reduceat(verdicts.outcome, starts)[both]
    for_first = np.where(verdicts.first == 1, verdicts.outcome, 1 - verdicts.outcome)
    positioned = (verdicts.first != 0).astype(float)
    share = np.add.reduceat(for_first * positioned, starts)[both]
    share /= np.add.reduceat(positioned, starts)[both]
    count = np.bincount(judge, minlength=judges)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = group_sums(judge, share, judges) / count
        variance = group_sums(judge, (share - mean[judge]) ** 2, judges) / (count - 1)
        error = np.where(count > 1, np.sqrt(np.maximum(variance, 0) / count), np.nan)
    return OrderCounts(
        both=count,
        consistent=group_sums(judge, lowest == highest, judges),
        conflicts=group_sums(judge, (lowest == 0) & (highest == 1), judges),
        first_share=mean,
        first_error=error,
    )

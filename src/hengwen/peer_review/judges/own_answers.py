"""Preference of judges for their own answers, compared with the verdicts of other judges on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hengwen.stats.rankings.codes import group_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hengwen.peer_review.battles.matches import Matches


class OwnPreference(NamedTuple):
    """Share of wins of a judge's own answers: by its own verdicts, and by the verdicts of other judges."""

    own: float
    others: float
    error: float
    """Standard error of ``own - others``."""


def own_preference(matches: Matches, judge: int, model: int, models: int) -> OwnPreference | None:
    """Return the share of wins of a judge's own answers by its own verdicts, and by those of other judges."""
    involved = (matches.low == model) | (matches.high == model)
    chosen = matches.only(involved)
    opponent = np.where(chosen.low == model, chosen.high, chosen.low)
    points = np.where(chosen.low == model, chosen.outcome, 1 - chosen.outcome)
    is_own = chosen.judge == judge
    own_count, own_mean, own_variance = _by_opponent(opponent[is_own], points[is_own], models)
    count, mean, variance = _by_opponent(opponent[~is_own], points[~is_own], models)
    shared = (own_count > 0) & (count > 0)
    if not shared.any():
        return None
    weight = own_count[shared] / own_count[shared].sum()
    error = weight**2 @ (own_variance[shared] / own_count[shared] + variance[shared] / count[shared])
    return OwnPreference(
        float(weight @ own_mean[shared]), float(weight @ mean[shared]), float(np.sqrt(error))
    )


def _by_opponent(
    opponent: NDArray[np.intp], points: NDArray[np.float64], models: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    count = np.bincount(opponent, minlength=models).astype(float)
    safe = np.maximum(count, 1)
    mean = group_sums(opponent, points, models) / safe
    variance = group_sums(opponent, points**2, models) / safe - mean**2
    # one pseudo-observation at each end of the scale (a win, a loss): the variance is never 0
    pseudo = (np.maximum(variance, 0) * count + 0.5) / (safe + 2)
    return count, mean, pseudo

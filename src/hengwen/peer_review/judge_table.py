"""Describe each judge of a peer review: weight, consistency, preferences, and the ranking without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hengwen.peer_review.estimates.evidence import Evidence, interval_bounds
from hengwen.peer_review.estimates.judge_bt import JudgeModel
from hengwen.peer_review.estimates.votes import ConsistencyVotes
from hengwen.peer_review.result import Bounds, ReviewedJudge
from hengwen.peer_review.verdicts import Matches, Verdicts, match_starts
from hengwen.stats.rankings.pair_models import group_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray


def reviewed_judges(evidence: Evidence) -> tuple[ReviewedJudge, ...]:
    """The judges, those with the highest weight first; without weights, in the order of their names."""
    orders = order_counts(evidence.all_verdicts, evidence.judges)
    counts = np.bincount(evidence.all_verdicts.judge, minlength=evidence.judges)
    weights, weight_bounds = _weights(evidence)
    judges = []
    for index, name in enumerate(evidence.battles.judges):
        both = int(orders.both[index])
        own = _own(evidence, index)
        judges.append(
            ReviewedJudge(
                name=name,
                verdicts=int(counts[index]),
                weight=None if weights is None else float(weights[index]),
                weight_interval=None
                if weight_bounds is None
                else (float(weight_bounds[0, index]), float(weight_bounds[1, index])),
                both_orders=both,
                consistent=float(orders.consistent[index]) / both if both else None,
                conflicts=float(orders.conflicts[index]) / both if both else None,
                first_share=float(orders.first_share[index]) if both else None,
                first_interval=_bounds(
                    float(orders.first_share[index]),
                    float(orders.first_error[index]),
                    evidence.options.confidence,
                    (0.0, 1.0),
                ),
                own_share=own.own if own else None,
                own_others=own.others if own else None,
                own_interval=_bounds(
                    own.own - own.others, own.error, evidence.options.confidence, (-1.0, 1.0)
                )
                if own
                else None,
            )
        )
    return tuple(
        sorted(judges, key=lambda judge: (0.0 if judge.weight is None else -judge.weight, judge.name))
    )


def _weights(evidence: Evidence) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Return the weights of the judges and their intervals, shape (2, J)."""
    estimate = evidence.estimate
    if isinstance(estimate, ConsistencyVotes):
        return estimate.weights, None
    if not isinstance(estimate, JudgeModel):
        return None, None
    resamples = evidence.judge_resamples
    drawn = None if resamples is None else resamples[:, estimate.design.discriminations]
    return estimate.discriminations, interval_bounds(drawn, evidence.options.confidence)


def _own(evidence: Evidence, judge: int) -> OwnPreference | None:
    model = int(evidence.judge_models[judge])
    if model < 0:
        return None
    return own_preference(evidence.all_matches, judge, model, evidence.models)


def _bounds(value: float, error: float, confidence: float, limits: Bounds) -> Bounds | None:
    if not np.isfinite(error):
        return None
    from scipy.special import ndtri

    reach = float(ndtri((1 + confidence) / 2)) * error
    return max(limits[0], value - reach), min(limits[1], value + reach)


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
        consistent=group_sums(judge, np.sign(lowest - 0.5) == np.sign(highest - 0.5), judges),
        conflicts=group_sums(judge, (lowest < 0.5) & (highest > 0.5), judges),
        first_share=mean,
        first_error=error,
    )


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

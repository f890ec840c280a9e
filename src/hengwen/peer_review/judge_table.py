"""Describe each judge of a peer review: weight, consistency, preferences, and the ranking without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.peer_review.estimates.consistency import ConsistencyVotes
from hengwen.peer_review.estimates.evidence import interval_bounds
from hengwen.peer_review.estimates.judge_bt import JudgeModel
from hengwen.peer_review.judges.orders import order_counts
from hengwen.peer_review.judges.own_answers import OwnPreference, own_preference
from hengwen.peer_review.result import ReviewedJudge
from hengwen.stats.rankings.rank_intervals import ranks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hengwen.peer_review.estimates.evidence import Evidence
    from hengwen.peer_review.result import Bounds


def reviewed_judges(evidence: Evidence) -> tuple[ReviewedJudge, ...]:
    """The judges, those with the highest weight first; without weights, in the order of their names."""
    orders = order_counts(evidence.all_verdicts, evidence.judges)
    counts = np.bincount(evidence.all_verdicts.judge, minlength=evidence.judges)
    weights, weight_bounds = _weights(evidence)
    lengths = _length_effects(evidence)
    judges = []
    for index, name in enumerate(evidence.battles.judges):
        both = int(orders.both[index])
        own = _own(evidence, index)
        tau, moved, moved_by = _without(evidence, index)
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
                length_effect=None if lengths is None else float(lengths[index]),
                tau_without=tau,
                moved=moved,
                moved_by=moved_by,
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


def _length_effects(evidence: Evidence) -> NDArray[np.float64] | None:
    return evidence.estimate.coefficients("length") if isinstance(evidence.estimate, JudgeModel) else None


def _own(evidence: Evidence, judge: int) -> OwnPreference | None:
    model = int(evidence.judge_models[judge])
    if model < 0:
        return None
    return own_preference(evidence.all_matches, judge, model, evidence.models)


def _without(evidence: Evidence, judge: int) -> tuple[float | None, str, int]:
    """Return tau-b between the rankings with and without a judge."""
    models = evidence.ranked_without(judge)
    if not len(models):
        return None, "", 0
    scores, without = evidence.estimate.scores, evidence.estimate.without_judge(judge)
    moves = ranks_of(without[models]) - ranks_of(scores[models])
    most = int(np.abs(moves).argmax())
    name = evidence.battles.models[models[most]] if moves[most] else ""
    return evidence.agreement(without, models), name, int(moves[most])


def _bounds(value: float, error: float, confidence: float, limits: Bounds) -> Bounds | None:
    if not np.isfinite(error):
        return None
    from scipy.special import ndtri

    reach = float(ndtri((1 + confidence) / 2)) * error
    return max(limits[0], value - reach), min(limits[1], value + reach)

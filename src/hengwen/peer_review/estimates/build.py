"""Build the estimate of a method from verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.peer_review.estimates.consistency import ConsistencyVotes
from hengwen.peer_review.estimates.elo import EloRatings
from hengwen.peer_review.estimates.judge_bt import JudgeModel
from hengwen.peer_review.estimates.pair_models import PairModel
from hengwen.peer_review.estimates.votes import Votes, majority_votes, rating_votes, uniform_votes
from hengwen.peer_review.verdicts import Conflict, combine_orders, without_conflicts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hengwen.peer_review.estimates.method import FittedMethod, RankingMethod
    from hengwen.peer_review.verdicts import Verdicts

KEEPS_OWN: tuple[RankingMethod, ...] = ("judge-bt", "consistency")
"""Methods that by default use the verdicts of judges on their own answers: ``judge-bt`` has a coefficient
for such verdicts, and ``consistency`` was published with them."""
_VOTES = {"uniform": uniform_votes, "majority": majority_votes, "rating": rating_votes}


def build_estimate(
    method: RankingMethod,
    verdicts: Verdicts,
    judge_models: NDArray[np.intp],
    size: tuple[int, int],
    *,
    conflict: Conflict,
    seed: int = 0,
) -> FittedMethod:
    """Return the estimate of a method."""
    models, questions = size
    if method == "judge-bt":
        kept = without_conflicts(verdicts) if conflict == "abstain" else verdicts
        return JudgeModel(kept, judge_models, models, questions)
    matches = combine_orders(verdicts, conflict)
    if method in _VOTES:
        return Votes(matches, _VOTES[method](questions, models))
    if method == "elo":
        return EloRatings(matches, models, seed)
    if method == "consistency":
        if np.any(judge_models[np.unique(matches.judge)] < 0):
            raise ValueError(
                "method 'consistency' weighs models as judges, but a judge is none of the models; "
                "use 'judge-bt'"
            )
        return ConsistencyVotes(matches, judge_models, models, questions, seed)
    return PairModel(matches, models, questions, ties=method == "davidson")
